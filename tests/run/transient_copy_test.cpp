// unit: the copy of the images in memory is kept while a run uses it, and removed by the last one.
#include "tests/support/program.h"

namespace harness::transient_copy_test {

using TransientCopy = Program;

TEST_F(TransientCopy, TwoRunsAtOnceShareTheTransientCopy) {
  const pid_t slow = base::start(
      command({"--scale", "smoke", "--only", "0", "--out", directory / "slow"}, {{"FAKE_SLICE", "slow"}}));
  for (int i = 0; i < 300 && !fs::exists(directory / "slow" / "rows"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(smoke_in("run", "0"), 0);  // ends first, and must leave the copy to the other
  std::ifstream stream(directory / "slow" / "rows" / "0-repeat0" / "job.json");
  const std::string copy = json::parse(stream)["packed"]["tmpfs"];
  EXPECT_TRUE(fs::exists(copy)) << copy;
  ::kill(slow, SIGINT);
  EXPECT_EQ(exit_code_of(slow), 130);
  EXPECT_FALSE(fs::exists(copy)) << "the last run removes it";
  EXPECT_FALSE(fs::exists(copy + ".in-use"));
}

}  // namespace harness::transient_copy_test
