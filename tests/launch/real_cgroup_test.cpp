// unit: a process in a real cgroup with half a core and little memory sees its limits, its throttling and the
// processes that the kernel ends for memory; a killed rank isn't taken for one of them
#include "tests/support/real_cgroup.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "harness/base/child_process.h"
#include "harness/contract/machine.h"
#include "harness/launch/launcher.h"
#include "tests/support/temporary_folder.h"

namespace harness::real_cgroup_test {

void limit_memory(RealGroup& group) {
  group.set("memory.max", "67108864", "memory.limit_in_bytes", "67108864");
}

TEST(RealCgroup, RecordsAndPlansSeeHalfACore) {
  RealGroup group("cpu");
  group.set("cpu.max", "50000 100000", "cpu.cfs_quota_us", "50000");
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  const auto inside = [] {
    const RecordMachine machine = describe_machine();
    if (machine.cores != 1 || machine.quota_cores != 0.5) return 1;
    if (machine.cores_limited_by.find("the quota of cgroup /suite_test_") != 0) return 2;
    const Words dry_run = {BINARY_DIR "/run_matrix", "--dry-run", "--device", "cpu", "--only", "10"};
    const std::string plan =
        base::run_to_end({dry_run, {{"RUN_MATRIX_WORKER", BINARY_DIR "/tests/fake_slice"}}, {}, {}, {}})
            .output;
    for (const char* text : {"\ncores: 1 of ", "limited by the quota of cgroup /suite_test_", "clipped to 1"})
      if (plan.find(text) == std::string::npos) return 3;
    return 0;
  };
  EXPECT_EQ(in_group(group, inside), 0);
}

// Of a quota so small that it also stops a process that others leave little time.
TEST(RealCgroup, ThrottledPeriodsAreCounted) {
  RealGroup group("cpu");
  group.set("cpu.max", "2000 100000", "cpu.cfs_quota_us", "2000");
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  const auto inside = [] {
    const Disturbance disturbance;
    RecordEnvironment environment;
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
    while (environment.throttled_periods.value_or(0) == 0 && passed() < std::chrono::seconds(60))
      disturbance.write_to(environment);
    return environment.throttled_periods > 0 ? 0 : 1;
  };
  EXPECT_EQ(in_group(group, inside), 0);
}

TEST(RealCgroup, ItsMemoryAndTheProcessesEndedForItAreSeen) {
  RealGroup group("memory");
  limit_memory(group);
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  const auto inside = [] {
    const base::ProcessLimits limits = base::process_limits();
    if (limits.memory_bytes != 64 << 20 || limits.free_memory_bytes > 64 << 20 || !limits.oom_kills) return 1;
    const Disturbance disturbance;
    if (disturbance.memory_ran_out() == MemoryRanOut::in_this_group) return 2;
    if (std::system("tail /dev/zero >/dev/null 2>&1") == 0) return 3;  // keeps all that it reads
    return disturbance.memory_ran_out() == MemoryRanOut::in_this_group ? 0 : 4;
  };
  EXPECT_EQ(in_group(group, inside), 0);
}

TEST(RealCgroup, AKilledRankDidNotRunOutOfAnothersMemory) {
  RealGroup group("memory");
  limit_memory(group);
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  if (!base::process_limits().oom_kills)
    GTEST_SKIP() << "this process's cgroup doesn't count processes ended for memory";
  const TemporaryFolder folder;
  const std::string elsewhere =
      "sh -c 'echo $$ >" + (group.folder() / "cgroup.procs").string() + "; exec tail /dev/zero'; kill -9 $$";
  Launch launch{.launcher = "local",
                .commands = {{{"sh", "-c", elsewhere}, {}, {}, folder / "out", folder / "errors"}}};
  Progress progress(folder / "progress", 1);
  const Disturbance disturbance;
  Outcome outcome = run_ranks(launch, progress, {60, 60, 60}, folder, [] {});
  ASSERT_EQ(disturbance.memory_ran_out(), MemoryRanOut::in_another_group) << outcome.reason;
  EXPECT_EQ(outcome.status, "CRASHED") << outcome.reason;
  EXPECT_EQ(outcome.reason.find("memory"), std::string::npos) << outcome.reason;
  launch.command_per_rank = false;  // as mpirun's and srun's, whose ranks may be in that group
  outcome = run_ranks(launch, progress, {60, 60, 60}, folder, [] {});
  EXPECT_EQ(outcome.status, "OUT_OF_MEMORY") << outcome.reason;
  EXPECT_NE(outcome.reason.find("or it ended another process of this machine"), std::string::npos)
      << outcome.reason;
}

}  // namespace harness::real_cgroup_test
