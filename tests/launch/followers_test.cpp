// unit: the rank that a follower of torchrun starts for an announced row.
#include "harness/launch/followers.h"

#include <gtest/gtest.h>

#include <optional>

#include "harness/base/file.h"
#include "harness/contract/job.h"
#include "tests/support/temporary_folder.h"

namespace harness::followers_test {

TEST(Followers, ARankHasTheEnvironmentOfItsRow) {
  const TemporaryFolder folder;
  Request request;
  request.out = folder / "run";
  request.wrap = "sh -c 'env > environment'";
  Job job;
  job.row.malloc = "retain";
  job.row.intra_op_threads = 3;
  job.row.jpeg_simd = false;
  write_job(folder / "job.json", job);
  std::optional<Leading> leading(request.out);
  const FollowedRow row(request.out, folder, 4711);
  leading.reset();  // the run ends after this row
  EXPECT_EQ(follow(request, "train_slice"), 0);
  const std::string environment = "\n" + base::read_file(folder / "environment");
  for (const char* variable : {"MALLOC_ARENA_MAX=1", "OMP_NUM_THREADS=3", "JSIMD_FORCENONE=1",
                               "MASTER_PORT=4711", "RUN_MATRIX_WRAPPED=1"})
    EXPECT_NE(environment.find("\n" + std::string(variable) + "\n"), std::string::npos)
        << variable << environment;
}

}  // namespace harness::followers_test
