// What this process may use of its machine. Depends on the standard library and POSIX alone, because the
// scripts compile it (scripts/limits.cpp) before anything is installed.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace base {

// Numbers of the cores in the affinity mask of the calling thread.
std::vector<int> available_cpus();

struct ProcessLimits {
  int64_t cores = 1;  // in the affinity mask, at most the quota rounded up
  int64_t machine_cores = 1;
  std::optional<double> quota_cores;      // the tightest of this process's cgroup and those above it
  std::string without_quota;              // folder of a cgroup that no quota limits, above those with quotas
  std::string cores_limited_by;           // e.g. `the quota of cgroup /a/b`; empty: all cores may be used
  int64_t memory_bytes = INT64_MAX;       // of the machine, within cgroups' limits
  int64_t free_memory_bytes = INT64_MAX;  // of that; what the page cache can give back counts as free
  std::string memory_limited_by;
  int64_t throttled_periods = 0;     // so far, of this cgroup and those above it
  std::optional<int64_t> oom_kills;  // processes of this process's cgroup that the kernel ended for memory
  std::vector<std::string> notes;    // lines for people: what limits the cores, and files that can't be read
};

// Reads /proc and /sys below `root`; a limit whose file can't be read counts as none. `cores`: in the
// affinity mask, which the kernel keeps within the cpuset.
ProcessLimits process_limits(const std::string& root = "", int64_t cores = int64_t(available_cpus().size()),
                             int64_t machine_cores = ::sysconf(_SC_NPROCESSORS_ONLN));

}  // namespace base
