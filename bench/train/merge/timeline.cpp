#include "bench/train/merge/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/contract/progress.h"

namespace bench {

using nlohmann::json;
using Time = PhaseClock::Time;

constexpr const char* kCollectiveNames[] = {"all_reduce", "broadcast", "all_gather"};

static double rounded_ms(double nanoseconds) { return std::round(nanoseconds) / 1e6; }

json rank_timeline(const BatchEvents& batch, int rank) {
  if (batch.host.empty()) return nullptr;
  const Time first = batch.host.front().begin, last = batch.host.back().end;
  json events = json::array();
  const auto add = [&](const std::string& track, std::string_view name, Time begin, Time end) {
    const auto ms = [&](Time time) {
      return rounded_ms(
          std::chrono::duration<double, std::nano>(std::clamp(time, first, last) - first).count());
    };
    events.push_back(
        {{"rank", rank}, {"track", track}, {"name", name}, {"begin_ms", ms(begin)}, {"end_ms", ms(end)}});
  };
  for (const auto& [phase, begin, end] : batch.host)
    if (begin < end) add("host", kPhaseNames[size_t(phase)], begin, end);
  for (const auto& [kind, posted, ended] : batch.collectives)
    add("collectives", kCollectiveNames[size_t(kind)], posted, ended == Time{} ? last : ended);
  for (size_t device = 0; device < batch.devices.size(); ++device)
    for (const auto& [phase, begin, end] : batch.devices[device])
      add(fmt::format("device {}", device), kPhaseNames[size_t(phase)], begin, end);
  return {{"machine", harness::this_machine()},
          {"begin_ns", std::chrono::nanoseconds(first.time_since_epoch()).count()},
          {"events", events}};
}

json merge_timelines(std::vector<json> parts, int64_t batch) {
  bool one_host = true;
  int64_t earliest = parts.at(0).at("begin_ns");
  for (const json& part : parts) {
    one_host = one_host && part.at("machine") == parts[0].at("machine");
    earliest = std::min(earliest, part.at("begin_ns").get<int64_t>());
  }
  json events = json::array();
  for (json& part : parts) {
    const double later_ns = one_host ? double(part.at("begin_ns").get<int64_t>() - earliest) : 0;
    for (json& event : part.at("events")) {
      for (const char* key : {"begin_ms", "end_ms"})
        event[key] = rounded_ms(event[key].get<double>() * 1e6 + later_ns);
      events.push_back(std::move(event));
    }
  }
  return {{"batch", batch}, {"clocks", one_host ? "one host" : "each rank's own"}, {"events", events}};
}

}  // namespace bench
