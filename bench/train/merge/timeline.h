// The last timed batch as it lay in time: phases, collectives, and each replica's own work. No Torch here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/train/clock/phase_clock.h"
#include "bench/train/clock/traffic.h"
#include "harness/contract/rank_report.h"

namespace bench {

constexpr int kTimelineRanks = 16;  // the first ones; a picture holds no more

// What one rank saw of a batch.
struct BatchEvents {
  std::vector<PhaseClock::Interval> host;
  std::vector<Traffic::Event> collectives;
  std::vector<std::vector<PhaseClock::Interval>> devices;  // of this process; empty when it has one
};

// One rank's part: its machine, `begin_ns` of its steady clock, and events in ms from then on. What begins
// before the batch or ends after it is cut at its edges. Nothing when the phase clock was off.
std::optional<harness::RankTimeline> rank_timeline(const BatchEvents& batch, int rank);

// `timeline` of a record, out of what rank_timeline gave. Steady clocks of one machine agree, and those of
// several do not: then each rank's events begin at 0.
harness::RecordTimeline merge_timelines(std::vector<harness::RankTimeline> parts, int64_t batch);

}  // namespace bench
