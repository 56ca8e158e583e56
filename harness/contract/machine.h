// Facts about the machine and the build for records, and disturbances while a row ran.
#pragma once
#include "harness/base/process_limits.h"
#include "harness/contract/cpu_time.h"
#include "harness/contract/record_parts.h"

namespace harness {

RecordMachine describe_machine();
RecordBuild describe_build();

// Where the kernel's OOM killer ended a process. `somewhere`: this process's cgroup doesn't count such kills.
enum class MemoryRanOut { no, in_this_group, in_another_group, somewhere };

// Constructed before a row, queried after it.
class Disturbance {
 public:
  Disturbance();
  // Sets load_average, as it was at construction, and steal_share and throttled_periods since then.
  void write_to(RecordEnvironment& environment) const;
  MemoryRanOut memory_ran_out() const;  // since then
 private:
  double load_average_ = 0;
  int64_t oom_kills_ = 0;
  CpuTime begin_ = cpu_time_until_now();
  base::ProcessLimits limits_ = base::process_limits();
};

}  // namespace harness
