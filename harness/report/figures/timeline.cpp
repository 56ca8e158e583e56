// The timeline of one batch of the key rows: phases, devices and collectives of each rank.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr int64_t kMostRanks = 4;  // further ranks would look the same

using Event = TimelineEvent;

std::vector<Event> recorded_events(const Record& record) {
  std::vector<Event> events;
  if (!record.timeline) return events;
  for (const Event& event : record.timeline->events)
    if (event.rank >= 0 && event.rank < kMostRanks && event.end_ms >= event.begin_ms && !event.name.empty())
      events.push_back(event);
  return events;
}

// For a record without a timeline: the last batch's phases one after another, starting at 0.
std::vector<Event> stacked_events(const Record& record) {
  std::vector<Event> events;
  const Samples& samples = record.samples_ms;
  const size_t batches = batches_of(samples);
  const int64_t ranks = std::min(int64_t(ranks_of(samples)), kMostRanks);
  for (int64_t rank = 0; batches > 0 && rank < ranks; ++rank) {
    double begin = 0;
    for (const std::string& phase : phase_names()) {
      const auto by_rank = samples.find(phase);
      if (by_rank == samples.end()) continue;
      const double ms = by_rank->second[size_t(rank)][batches - 1];
      if (ms > 0) events.push_back({rank, "host", phase, begin, begin + ms});
      begin += ms;
    }
  }
  return events;
}

int64_t place_of(const Event& event) {  // keeps host, devices and collectives of a rank together
  const int64_t track = event.track == "host" ? 0 : event.track == "collectives" ? 99 : 1;
  return 100 * event.rank + track;
}

std::string lane_of(const Event& event, bool several_ranks) {
  return several_ranks ? fmt::format("rank {} {}", event.rank, event.track) : event.track;
}

double add_events(const std::string& row, const std::vector<Event>& events,
                  const std::set<std::string>& known, json& values) {
  const bool several = std::any_of(events.begin(), events.end(), [](const Event& e) { return e.rank > 0; });
  double end = 0;
  for (const Event& event : events) {
    values.push_back({{"row", row},
                      {"lane", lane_of(event, several)},
                      {"position", place_of(event)},
                      {"track", event.track},
                      {"what", event.name},
                      {"colour", known.count(event.name) ? event.name : "other"},
                      {"begin_ms", rounded(event.begin_ms)},
                      {"end_ms", rounded(event.end_ms)},
                      {"ms", rounded(event.end_ms - event.begin_ms)}});
    end = std::max(end, event.end_ms);
  }
  return end;
}

}  // namespace

bool fill_timeline(json& spec, const FigureSource& source) {
  Colours colours = source.palette.phases;  // what host threads do; then the collectives beside them
  colours.insert(colours.end(), source.palette.collectives.begin(), source.palette.collectives.end());
  json values = json::array();
  std::vector<PanelTitle> panels;
  std::set<std::string> known;
  for (const NamedColour& entry : colours) known.insert(entry.name);
  double longest = 0, shortest = 1e300;
  bool skewed_clocks = false, recorded = false;
  for (const SummaryRow* row : key_rows(source.summary)) {
    const Record& record = *row->record;
    std::vector<Event> events = recorded_events(record);
    std::string below;
    recorded = recorded || !events.empty();
    if (events.empty()) {
      events = stacked_events(record);
      below = "no timeline in the record: its phases laid end to end";
    }
    if (events.empty()) continue;
    const double end = add_events(row->id, events, known, values);
    longest = std::max(longest, end);
    shortest = std::min(shortest, end);
    skewed_clocks = skewed_clocks || (record.timeline && record.timeline->clocks == "each rank's own");
    panels.push_back({row, below});
  }
  if (panels.empty()) return false;
  spec["data"] = {{"values", values}};
  set_panels(spec, panels);
  json& colour = spec["/spec/encoding/color"_json_pointer];
  colour["scale"] = colour_scale(colours);
  colour["legend"]["values"] = present(colours, values, "colour");
  if (colour["legend"]["values"].size() > 12) colour["legend"]["columns"] = 7;  // two lines of equal length
  if (longest > 4 * shortest) spec["/resolve/scale/x"_json_pointer] = "independent";
  set_title(spec, source,
            recorded ? "timeline of the last timed batch" : "the last timed batch, phase after phase",
            {fmt::format("At most {} ranks of each row.{}", kMostRanks,
                         skewed_clocks ? " With several hosts, each rank starts at 0 of its own clock." : ""),
             missing_key_rows(source.summary)});
  return true;
}

}  // namespace harness
