// Facts about the machine and the build for records, and disturbances while a row ran.
#pragma once
#include "harness/contract/record_parts.h"

namespace harness {

RecordMachine describe_machine();
RecordBuild describe_build();

// Constructed before a row, queried after it.
class Disturbance {
 public:
  Disturbance();
  // Sets load_average, as it was at construction, and steal_share and throttled_periods since then.
  void write_to(RecordEnvironment& environment) const;
  bool out_of_memory_kills() const;  // whether the kernel's OOM killer ended a process since
 private:
  double load_average_ = 0;
  int64_t steal_ = 0, total_ = 0, throttled_ = 0, oom_kills_ = 0;
};

}  // namespace harness
