// unit: what a process may use, read from recorded trees of /proc and /sys: cgroup v1, v2 and both, nested
// groups, namespaces, files that can't be read
#include "harness/base/process_limits.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace base::process_limits_test {

constexpr const char* kV2 =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kUnlimitedV1 = "9223372036854771712\n";

// A machine of 8 cores with 16 GiB, of which 8 are free.
class ProcessLimitsTest : public ::testing::Test {
 protected:
  ProcessLimitsTest() {
    write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
  }
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = tree_.path().string() + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void groups(const std::string& own, const std::string& mounts) {
    write("/proc/self/cgroup", own);
    write("/proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n" + mounts);
  }
  // Of v2, with everything in it that the kernel shows below the root.
  void group(const std::string& path, const std::string& cpu_max, const std::string& memory_max,
             int throttled) {
    const std::string folder = "/sys/fs/cgroup" + path;
    write(folder + "/cpu.max", cpu_max + "\n");
    write(folder + "/cpu.stat", "usage_usec 100\nnr_periods 70\nnr_throttled " + std::to_string(throttled) +
                                    "\nthrottled_usec 5\nnr_bursts 0\n");
    write(folder + "/memory.max", memory_max + "\n");
    write(folder + "/memory.current", "1073741824\n");
    write(folder + "/memory.stat",
          "anon 1\nfile 2\ninactive_anon 7\ninactive_file 268435456\nactive_file 268435456\n");
    write(folder + "/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n");
  }
  ProcessLimits limits(int64_t cores = 8) const { return process_limits(tree_.path().string(), cores, 8); }

  TemporaryFolder tree_;
};

constexpr int64_t kGib = int64_t(1) << 30;

TEST_F(ProcessLimitsTest, WithoutCgroupsTheMachineCounts) {
  const ProcessLimits all = limits();
  EXPECT_EQ(all.cores, 8);
  EXPECT_EQ(all.machine_cores, 8);
  EXPECT_EQ(all.memory_bytes, 16 * kGib);
  EXPECT_EQ(all.free_memory_bytes, 8 * kGib);
  EXPECT_FALSE(all.quota_cores || all.oom_kills);
  EXPECT_TRUE(all.notes.empty() && all.cores_limited_by.empty() && all.memory_limited_by.empty());
  const ProcessLimits masked = limits(3);
  EXPECT_EQ(masked.cores, 3);
  EXPECT_EQ(masked.notes,
            std::vector<std::string>{"cores: 3 of 8, limited by the affinity mask or a cpuset"});
}

// As systemd nests them: the slice limits more than the service.
TEST_F(ProcessLimitsTest, TheTightestOfNestedGroupsCounts) {
  groups("0::/user.slice/user-1000.slice/run.scope\n", kV2);
  write("/sys/fs/cgroup/cpu.stat",
        "usage_usec 1\nnr_throttled 1000\n");  // the root has a cpu.stat and no quota
  group("/user.slice", "max 100000", "max", 100);
  group("/user.slice/user-1000.slice", "200000 100000", "4294967296", 30);
  group("/user.slice/user-1000.slice/run.scope", "300000 100000", "8589934592", 4);
  const ProcessLimits all = limits();
  EXPECT_EQ(all.cores, 2);
  EXPECT_EQ(all.quota_cores, 2.0);
  EXPECT_EQ(all.notes, std::vector<std::string>{
                           "cores: 2 of 8, limited by the quota of cgroup /user.slice/user-1000.slice"});
  EXPECT_EQ(all.without_quota, tree_.path().string() + "/sys/fs/cgroup");
  EXPECT_EQ(all.throttled_periods, 34) << "a group without a quota throttles nothing";
  EXPECT_EQ(all.memory_bytes, 4 * kGib);
  EXPECT_EQ(all.memory_limited_by, "cgroup /user.slice/user-1000.slice");
  EXPECT_EQ(all.free_memory_bytes, 3 * kGib + kGib / 2) << "the page cache counts as free";
  EXPECT_EQ(all.oom_kills, 1);
}

// What siblings use is missing to this process, too.
TEST_F(ProcessLimitsTest, AGroupAboveWithLessFreeMemoryCounts) {
  groups("0::/slurm/job_7/step_0\n", kV2);
  group("/slurm/job_7/step_0", "max 100000", "2147483648", 0);
  group("/slurm/job_7", "max 100000", "3221225472", 0);
  write("/sys/fs/cgroup/slurm/job_7/memory.current", "3221225472\n");
  EXPECT_EQ(limits().memory_bytes, 2 * kGib);
  EXPECT_EQ(limits().free_memory_bytes, kGib / 2);
  write("/sys/fs/cgroup/slurm/job_7/memory.current", "8000000000\n");
  EXPECT_EQ(limits().free_memory_bytes, 0);
}

TEST_F(ProcessLimitsTest, HalfACoreIsOneCoreWithItsQuota) {
  groups("0::/\n", kV2);  // in a namespace, where a group with limits is the root
  group("", "50000 100000", "268435456", 49);
  const ProcessLimits all = limits();
  EXPECT_EQ(all.cores, 1);
  EXPECT_EQ(all.quota_cores, 0.5);
  EXPECT_EQ(all.notes,
            std::vector<std::string>{"cores: 1 of 8, limited by the quota of cgroup / (0.5 cores)"});
  EXPECT_EQ(all.throttled_periods, 49);
  EXPECT_EQ(all.without_quota, "") << "the outermost group has one";
  EXPECT_EQ(all.memory_bytes, kGib / 4);
  group("", "150000 100000", "max", 0);
  EXPECT_EQ(limits().cores, 2);
  EXPECT_EQ(limits(2).notes[0], "cores: 2 of 8, limited by the quota of cgroup / (1.5 cores)");
  EXPECT_EQ(limits(1).notes[0], "cores: 1 of 8, limited by the affinity mask or a cpuset");
  EXPECT_EQ(limits(1).quota_cores, 1.5);
}

// Slurm's and Docker's: cpu mounted together with cpuacct, and -1 or a huge number where there is no limit.
TEST_F(ProcessLimitsTest, Version1) {
  groups("11:memory:/slurm/uid_0/job_7/step_0\n4:cpu,cpuacct:/slurm/uid_0/job_7/step_0\n1:name=systemd:/x\n",
         "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
         "32 30 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
         "33 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n");
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct", memory = "/sys/fs/cgroup/memory";
  for (const char* path : {"", "/slurm", "/slurm/uid_0", "/slurm/uid_0/job_7", "/slurm/uid_0/job_7/step_0"}) {
    write(cpu + path + "/cpu.cfs_quota_us", "-1\n");
    write(cpu + path + "/cpu.cfs_period_us", "100000\n");
    write(cpu + path + "/cpu.stat", "nr_periods 70\nnr_throttled 50\nthrottled_time 3\n");
    write(memory + path + "/memory.limit_in_bytes", kUnlimitedV1);
    write(memory + path + "/memory.usage_in_bytes", "1073741824\n");
    write(memory + path + "/memory.stat",
          "inactive_file 5\ntotal_inactive_file 536870912\ntotal_active_file 0\n");
    write(memory + path + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  }
  EXPECT_EQ(limits().cores, 8);
  EXPECT_FALSE(limits().quota_cores);
  EXPECT_EQ(limits().throttled_periods, 0);
  EXPECT_EQ(limits().memory_bytes, 16 * kGib);
  EXPECT_EQ(limits().oom_kills, 3);
  write(memory + "/slurm/memory.usage_in_bytes", "0\n");
  EXPECT_EQ(limits().free_memory_bytes, 8 * kGib);
  write(cpu + "/slurm/uid_0/job_7/cpu.cfs_quota_us", "250000\n");
  write(memory + "/slurm/uid_0/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(limits().cores, 3);
  EXPECT_EQ(limits().cores_limited_by, "the quota of cgroup /slurm/uid_0/job_7");
  EXPECT_EQ(limits().throttled_periods, 50);
  EXPECT_EQ(limits().memory_bytes, 2 * kGib);
  EXPECT_EQ(limits().free_memory_bytes, kGib + kGib / 2);
}

// Docker without a namespace for cgroups: the path is the host's, and the mount shows the container's part of
// it.
TEST_F(ProcessLimitsTest, TheMountedGroupMayBeTheOwn) {
  groups("4:cpu,cpuacct:/docker/abc/inner\n0::/system.slice/containerd.service\n",
         "31 30 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(limits().cores_limited_by, "the quota of cgroup /docker/abc");
  EXPECT_EQ(limits().cores, 2);
}

TEST_F(ProcessLimitsTest, HybridTakesEachControllerWhereItIs) {
  groups("5:cpu,cpuacct:/a\n0::/a/b\n",
         "31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
         "41 30 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "400000\n");
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/unified/a/memory.max", "1073741824\n");
  write("/sys/fs/cgroup/unified/a/memory.current", "0\n");
  EXPECT_EQ(limits().cores, 4);
  EXPECT_EQ(limits().without_quota, tree_.path().string() + "/sys/fs/cgroup/cpu") << "the quota's hierarchy";
  EXPECT_EQ(limits().memory_bytes, kGib);
  EXPECT_EQ(limits().memory_limited_by, "cgroup /a");
}

// In a namespace whose mounts were made outside of it the groups above are known as /.. and so on; a process
// that was moved out of its namespace's groups sees none of its own.
TEST_F(ProcessLimitsTest, Namespaces) {
  groups("0::/\n", "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("", "100000 100000", "max", 0);
  EXPECT_EQ(limits().cores, 1);
  EXPECT_EQ(limits().cores_limited_by, "the quota of cgroup /../..");
  groups("0::/../other\n", kV2);
  const ProcessLimits unknown = limits();
  EXPECT_EQ(unknown.cores, 8);
  EXPECT_EQ(unknown.notes,
            std::vector<std::string>{"cgroup /../other isn't below /sys/fs/cgroup: its limits are unknown"});
}

TEST_F(ProcessLimitsTest, WhatCannotBeReadIsNoLimitAndIsSaid) {
  groups("0::/a\n", kV2);
  for (const char* file : {"cpu.max", "memory.max"})  // root can read any file, but no folder
    std::filesystem::create_directories(tree_ / "sys/fs/cgroup/a" / file);
  const ProcessLimits all = limits();
  EXPECT_EQ(all.cores, 8);
  EXPECT_EQ(all.memory_bytes, 16 * kGib);
  ASSERT_EQ(all.notes.size(), 2u);
  EXPECT_NE(all.notes[0].find("/a/cpu.max can't be read (Is a directory): taken as no limit"),
            std::string::npos)
      << all.notes[0];
  std::filesystem::remove_all(tree_ / "sys/fs/cgroup/a");
  for (const char* nonsense : {"", "max", "-1 0", "x y", "1e999 0", "100000", "0 100000", "nan 1"}) {
    write("/sys/fs/cgroup/a/cpu.max", nonsense);
    EXPECT_EQ(limits().cores, 8) << nonsense;
  }
  groups(":\nnonsense\n0::\n::::\n\n", "a b - c\n1 2 3 / /sys/fs/cgroup rw -\n\n- - -\n");
  EXPECT_EQ(limits().cores, 8);
}

TEST_F(ProcessLimitsTest, ThisProcessHasLimits) {
  const ProcessLimits here = process_limits();
  EXPECT_GE(here.cores, 1);
  EXPECT_LE(here.cores, int64_t(available_cpus().size()));
  EXPECT_GT(here.memory_bytes, 0);
  EXPECT_GT(here.free_memory_bytes, 0);
  EXPECT_LE(here.free_memory_bytes, here.memory_bytes);
}

}  // namespace base::process_limits_test
