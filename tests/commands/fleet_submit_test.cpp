// unit: which nodes of a Slurm cluster get a night, by the states that a fake sinfo prints.
#include "tests/support/program.h"

namespace harness::fleet_submit_test {

class FleetSubmit : public Program {};

TEST_F(FleetSubmit, NodesThatAreSavingPowerOrPlannedAreUsable) {
  fs::create_directories(directory / "bin");
  std::ofstream(directory / "bin/sinfo")
      << "#!/bin/sh\nprintf '%s\\n' 'a idle' 'b idle~' 'c alloc#' 'd mix-' 'e plnd' 'f idle%' 'g idle*' "
         "'h maint' 'i down~' 'j resv$' 'k idle*~'\n";
  std::ofstream(directory / "bin/sbatch") << "#!/bin/sh\n";
  for (const char* program : {"bin/sinfo", "bin/sbatch"})
    fs::permissions(directory / program, fs::perms::owner_all);
  EXPECT_EQ(run({"fleet", "submit", directory / "history", "--slurm"},
                {{"PATH", (directory / "bin").string() + ":" + std::getenv("PATH")}}),
            0)
      << errors();
  EXPECT_TRUE(says("# A night on 6 nodes; left out: g (idle*), h (maint), i (down~), j (resv$), k (idle*~)"))
      << output();
  EXPECT_TRUE(says("nodes=(a b c d e f)")) << output();
}

}  // namespace harness::fleet_submit_test
