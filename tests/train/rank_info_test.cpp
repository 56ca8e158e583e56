// train: a rank's place from the variables of its launcher
#include <gtest/gtest.h>
#include <stdlib.h>

#include "bench/train/backend/group.h"

namespace bench::rank_info_test {

// The place of a rank with these variables and none of other launchers.
RankInfo place(const std::vector<std::pair<const char*, const char*>>& variables) {
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  const auto forget = [&] {
    for (const auto& [name, value] : variables) ::unsetenv(name);
  };
  try {
    const RankInfo info = rank_from_environment();
    forget();
    return info;
  } catch (...) {
    forget();
    throw;
  }
}

TEST(RankInfo, WithoutALauncherItIsAlone) {
  const RankInfo alone = place({});
  EXPECT_EQ(alone.world_size, 1);
  EXPECT_EQ(alone.local_world_size, 1);
}

TEST(RankInfo, SlurmTellsTheRanksOfEachNodeInOneOfSeveralWays) {
  const auto ranks_here = [](const char* node, const char* name, const char* value) {
    return place({{"SLURM_PROCID", "2"},
                  {"SLURM_NTASKS", "8"},
                  {"SLURM_LOCALID", "0"},
                  {"SLURM_NODEID", node},
                  {"SLURM_NNODES", "4"},
                  {name, value}})
        .local_world_size;
  };
  EXPECT_EQ(ranks_here("1", "SLURM_NTASKS_PER_NODE", "2"), 2);
  EXPECT_EQ(ranks_here("1", "SLURM_STEP_TASKS_PER_NODE", "2(x4)"), 2);
  EXPECT_EQ(ranks_here("2", "SLURM_STEP_TASKS_PER_NODE", "3(x2),1(x2)"), 1);
  EXPECT_EQ(ranks_here("1", "SLURM_TASKS_PER_NODE", "4,2,1,1"), 2);
  EXPECT_EQ(ranks_here("1", "SLURM_TASKS_PER_NODE", "2(x"), 2) << "as many on each of four nodes";
  EXPECT_EQ(ranks_here("1", "LOCAL_WORLD_SIZE", "5"), 5);
}

TEST(RankInfo, UnequalNodesThatNobodyListsAreRefused) {
  EXPECT_THROW(place({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "7"}, {"SLURM_NNODES", "4"}}),
               std::invalid_argument);
}

}  // namespace bench::rank_info_test
