// The bottleneck verdict: what a row waited for most, how far the next ceiling is, and what each remedy could
// add.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// Shares of the mean step, 0-1, together 1.
struct StepShares {
  double loader = 0;         // phase load: waiting for the next batch
  double copy = 0;           // h2d, scatter, gather
  double communication = 0;  // broadcast, reduce, sync and SyncBN's waits: what backward did not hide
  double device = 0;         // forward, loss, backward, step, as long as they take with no loader beside them
  double cpu =
      0;  // what forward to step take longer beside the loader, and the host's own work (phase other)
};

// Images per second at which one part alone would run; none where the record doesn't hold it.
struct Ceilings {
  std::optional<double> loader, compute, all_reduce;
};

// Images per second that a row would gain at most if one thing cost nothing: the slower of what then remains
// of the loader alone and of the rest of the step. None where no ceiling was measured.
struct Gains {
  std::optional<double> disk, threads, device, link;
};

struct Bottleneck {
  std::string verdict;  // loader, memory copy, communication, device, CPU execution, other
  std::string cause;    // what of it, in a few words
  std::string figure;   // the figures that decided
  std::string next;     // what to try
  StepShares shares;
  double images_per_second = 0;
  Ceilings ceilings;
  std::optional<double> headroom;  // the lower of loader and compute ceiling / images_per_second - 1
  Gains gains;
};

// The tree of the tuning guide (matrix "formats"): loader, memory copy, communication, device, CPU execution,
// else other. Each is named from a share of kHighShare on, the device from kBusyShare on. A loader that alone
// is faster than the row by kCoresShared waits for cores and not for data: CPU execution. Nothing for a
// record without figures or phase times.
inline constexpr double kHighShare = 0.25, kBusyShare = 0.6, kCoresShared = 1.3;
std::optional<Bottleneck> bottleneck_of(const Record& record, const RunStatistics& run);
std::optional<Bottleneck> bottleneck_of(const SummaryRow& row);  // of the median repeat

Grid bottleneck_grid(const Summary& summary);

}  // namespace harness
