// The timeline of the last timed batch: phases, collectives and the work of each replica. No Torch here.
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

// The record's `timeline` from the results of rank_timeline(). Steady clocks are comparable only on one
// machine; with several machines each rank's events start at 0.
harness::RecordTimeline merge_timelines(std::vector<harness::RankTimeline> parts, int64_t batch);

}  // namespace bench
