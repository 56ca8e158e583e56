// A row's bottleneck by its phases: the part that it waits for most, and its ceilings. What a remedy really
// gains is measured by `explain`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// Shares of the mean step, 0-1; their sum is 1.
struct StepShares {
  double loader = 0;         // phase load: waiting for the next batch
  double copy = 0;           // h2d, scatter, gather
  double communication = 0;  // exposed, or broadcast and reduce between the devices of one process
  double device = 0;         // forward, loss, backward, step, as measured without a loader
  double launch = 0;         // the same phases of a device that goes no faster than its host launches
  double cpu = 0;            // the time that the loader adds to these phases, and phase other
};

// Images per second if one part alone limited the row; empty if the record doesn't have it.
struct Ceilings {
  std::optional<double> loader, compute, all_reduce;
  std::optional<Interval> loader_range, compute_range;  // 95 %, of the mean over the ceiling's batches
};

struct Bottleneck {
  // loader, memory copy, communication, CPU execution, other; of a processor `device`, of a device with times
  // of its own `launch` or `kernels`
  std::string verdict;
  std::string cause;   // the cause in a few words
  std::string figure;  // the figures that decided
  std::string next;    // what to try
  StepShares shares;
  double images_per_second = 0;
  Ceilings ceilings;
  std::optional<double> headroom;  // the lower of loader and compute ceiling / images_per_second - 1
};

// By the device's times where it has some, because then the host's say where it waited, not for what;
// otherwise by the host's. Means over ranks; why ranks wait for one another follows from the critical path.
// Checks loader, memory copy, communication, launch, device (kernels) and CPU execution in this order; the
// verdict is the first whose share reaches kHighShare (device: kBusyShare), otherwise `other`. If the loader
// alone is kCoresShared times as fast as the row, it lacks cores and not data: CPU execution. Nullopt without
// phase times.
inline constexpr double kHighShare = 0.25, kBusyShare = 0.6, kCoresShared = 1.3;
std::optional<Bottleneck> bottleneck_of(const Record& record, const RunStatistics& run);
std::optional<Bottleneck> bottleneck_of(const SummaryRow& row);  // of the median repeat

Grid bottleneck_grid(const Summary& summary);

}  // namespace harness
