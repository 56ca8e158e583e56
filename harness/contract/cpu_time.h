// Processor time of a rank and of all others on its cores: what disturbed a timed window.
#pragma once
#include <optional>
#include <tuple>

#include "harness/contract/codec.h"

namespace harness {

// Processor time on the cores that this process may use, in seconds, summed over the cores. Two parts disturb
// a row: `stolen_s`, and the part of `busy_s` that neither its ranks nor threads of the kernel used. Kernel
// threads don't count, because they work for the row's own reads (4 % of the time in cold rows); another
// program that keeps them busy shows by its own time.
struct CpuTime {
  double total_s = 0, busy_s = 0, stolen_s = 0, own_s = 0;
  std::optional<double> queued_s;
  double kernel_s = 0;
  int64_t machine = 0;
  std::optional<double> clock_change = std::nullopt;
  double chain_step_ns = 0;  // of a chain of dependent operations, now; a fixed number of the core's cycles

  KEYS(CpuTime, REQUIRED(total_s, "all time of these cores, idle time included"),
       REQUIRED(busy_s, "time in which they ran some process or the kernel for one"),
       REQUIRED(stolen_s, "time that the hypervisor gave to other machines"),
       REQUIRED(own_s, "processor time of the rank's process and of those that it has started"),
       WHEN_SET(queued_s, "time that its threads were ready and waited for a core"),
       REQUIRED(kernel_s,
                "processor time of the kernel's own threads, such as those that complete reads; 0 where the "
                "process doesn't see them or may not use all cores"),
       REQUIRED(machine, "equal for ranks on one machine, also on emulated nodes of it"),
       WHEN_SET(clock_change,
                "how much faster the clock of its core was at the end than at the start; -0.1: 10 % slower"));

  // What has passed since `earlier`, and the change of the clock.
  CpuTime operator-(const CpuTime& earlier) const;
};

// Of this process and its cores until now, from /proc/stat (10 ms resolution), getrusage() and the threads'
// schedstat (absent without the kernel's scheduler statistics). Threads that have ended don't count to
// queued_s. Takes a few milliseconds, in part to measure the core's clock.
CpuTime cpu_time_until_now();

}  // namespace harness
