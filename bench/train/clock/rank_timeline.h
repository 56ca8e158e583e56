// One rank's timeline of a batch: phases, collectives and the work of each replica. No Torch here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/train/clock/phase_clock.h"
#include "bench/train/clock/traffic.h"
#include "harness/contract/rank_report.h"

namespace bench {

constexpr int kTimelineRanks = 16;  // the first ones; more don't fit into a figure

// The events of one batch on one rank.
struct BatchEvents {
  std::vector<PhaseClock::Interval> host;
  std::vector<Traffic::Event> collectives;
  std::vector<std::vector<PhaseClock::Interval>> devices;  // per device; empty if the process has one device
};

// One rank's part: its machine, `begin_ns` on its steady clock, and events in ms from there. Events are
// clipped to the batch. Empty if the phase clock was off.
std::optional<harness::RankTimeline> rank_timeline(const BatchEvents& batch, int rank);

}  // namespace bench
