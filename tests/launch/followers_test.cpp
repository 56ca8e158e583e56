// unit: the rank that a follower of torchrun starts for an announced row.
#include "harness/launch/followers.h"

#include <gtest/gtest.h>

#include <optional>

#include "harness/base/file.h"
#include "harness/contract/job.h"
#include "tests/support/temporary_folder.h"

namespace harness::followers_test {

TEST(Followers, ARankHasTheEnvironmentAndTheProgramOfItsRow) {
  const TemporaryFolder folder;
  Request request;
  request.out = folder / "run";
  request.wrap = "sh -c 'env > environment; echo \"$0\" \"$@\" > program'";
  Job job;
  job.row.engine = "pytorch";
  job.row.malloc = "retain";
  job.row.intra_op_threads = 3;
  job.row.jpeg_simd = false;
  write_job(folder / "job.json", job);
  std::optional<Leading> leading(request.out);
  const FollowedRow row(request.out, folder, 4711);
  leading.reset();  // the run ends after this row
  Installation installation;
  installation.train_slice = "train_slice";
  installation.project = "project";
  installation.python = "python";
  EXPECT_EQ(follow(request, installation), 0);
  const std::string environment = "\n" + base::read_file(folder / "environment");
  for (const char* variable : {"MALLOC_ARENA_MAX=1", "OMP_NUM_THREADS=3", "JSIMD_FORCENONE=1",
                               "MASTER_PORT=4711", "RUN_MATRIX_WRAPPED=1"})
    EXPECT_NE(environment.find("\n" + std::string(variable) + "\n"), std::string::npos)
        << variable << environment;
  EXPECT_EQ(base::read_file(folder / "program"),
            "python project/bench/twin/twin.py --job " + (folder / "job.json").string() + "\n");
}

}  // namespace harness::followers_test
