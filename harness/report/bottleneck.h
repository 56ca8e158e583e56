// Where a row waits, by its phases and ceilings: its bottleneck. What binds it, and what a
// remedy really gains, is measured by `explain`.
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
struct Ceiling {
  std::optional<double> rate = {};
  std::optional<Interval> range = {};  // 95 %, of the mean over the ceiling's batches

  bool known() const { return rate.has_value(); }
};
struct Ceilings {
  Ceiling loader, compute, all_reduce;
};

struct Bottleneck {
  // loader, memory copy, communication, CPU execution; of a processor `computing`, of a device with times of
  // its own `launch` or `kernels`. `-`: this record allows no verdict, `cause` says why.
  std::string verdict;
  std::string cause;                 // the cause in a few words
  std::string figure;                // the figures that decided
  std::vector<const char*> changes;  // of experiment/intervention.h, that would relieve it
  StepShares shares;
  double images_per_second = 0;
  Ceilings ceilings;
  std::optional<double> headroom;  // the lower of loader and compute ceiling / images_per_second - 1
  bool needs_free_cores = false;   // loader and step share cores, each ceiling had them alone
};

// By the rules that bottleneck_grid() notes; without ceilings the largest part, and before all these one slow
// rank, if the others wait for it for kUneven of the step. Nullopt without phase times.
std::optional<Bottleneck> bottleneck_of(const Record& record, const RunStatistics& run);
std::optional<Bottleneck> bottleneck_of(const SummaryRow& row);  // of the median repeat

// Why nothing can be concluded from a record's speed: a smoke test, or others changed it. Emulated devices
// wait in real time, so that others' share says nothing of them: their check `lag` refuses what it changed.
// Empty: it can.
std::string no_verdict(const Record& record);

Grid bottleneck_grid(const Summary& summary);

}  // namespace harness
