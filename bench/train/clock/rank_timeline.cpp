// Converts a batch's time stamps to named events in milliseconds since the batch began.
#include "bench/train/clock/rank_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/contract/progress.h"

namespace bench {

using Time = PhaseClock::Time;

constexpr const char* kCollectiveNames[] = {"all_reduce", "broadcast", "all_gather"};

std::optional<harness::RankTimeline> rank_timeline(const BatchEvents& batch, int rank) {
  if (batch.host.empty()) return std::nullopt;
  const Time first = batch.host.front().begin, last = batch.host.back().end;
  harness::RankTimeline timeline;
  const auto add = [&](const std::string& track, std::string_view name, Time begin, Time end) {
    const auto ms = [&](Time time) {
      return harness::rounded_ms(
          std::chrono::duration<double, std::nano>(std::clamp(time, first, last) - first).count());
    };
    timeline.events.push_back({rank, track, std::string(name), ms(begin), ms(end)});
  };
  for (const auto& [phase, begin, end] : batch.host)
    if (begin < end) add("host", kPhaseNames[size_t(phase)], begin, end);
  for (const auto& [kind, posted, ended] : batch.collectives)
    add("collectives", kCollectiveNames[size_t(kind)], posted, ended == Time{} ? last : ended);
  for (size_t device = 0; device < batch.devices.size(); ++device)
    for (const auto& [phase, begin, end] : batch.devices[device])
      add(fmt::format("device {}", device), kPhaseNames[size_t(phase)], begin, end);
  timeline.machine = int64_t(harness::this_machine());
  timeline.begin_ns = std::chrono::nanoseconds(first.time_since_epoch()).count();
  return timeline;
}

}  // namespace bench
