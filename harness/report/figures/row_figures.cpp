// The data of figures with a line per row: cascade, phases, communication; and of feed, a point per run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/report/figures/figure.h"
#include "harness/report/summary/article_comparison.h"
#include "harness/report/summary/device_time.h"
#include "harness/report/summary/feed_answer.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

// What the row is and what ran, with `figures`; null for a figure that there isn't.
json row_value(const SummaryRow& row, const json& figures = json::object()) {
  json value = {{"row", row.id},
                {"title", row.title},
                {"ran", row.ok() ? row.ran : ""},
                {"status", row.status},
                {"reason", row.reason}};
  value.update(figures);
  return value;
}

// What times and rates are of, for titles of axes.
std::string where_measured(const Summary& summary) {
  if (summary.device == "own") return "the job's devices";
  if (summary.device != "emulated") return summary.device;
  const bool stretched =
      std::ranges::any_of(summary.rows, [](const SummaryRow& row) { return row.config.time_scale != 1; });
  return stretched ? "emulated devices, time stretched"  // runs of feed
                   : "emulated devices, in the article's batches and time";
}

json or_null(const std::optional<double>& figure) { return figure ? json(*figure) : json(); }

}  // namespace

FigureData cascade_data(const Summary& summary) {
  const Rates rates = rates_of(summary);
  FigureData data;
  bool any_disturbed = false, any = false;
  std::set<std::string> drawn;
  double longest = 0;
  for (const RowRate& rate : rates.rows) {
    const SummaryRow& row = *rate.row;
    const bool disturbed =
        rate.here && !disturbance_text(row.records).empty() && summary.device != "emulated";
    any_disturbed = any_disturbed || disturbed;
    any = any || rate.here;
    if (rate.article) drawn.insert("the article");
    if (rate.here) drawn.insert(rate.by_construction ? "by construction" : "this run");
    longest = std::max({longest, rate.article.value_or(0), rate.high.value_or(0)});
    data.values.push_back(row_value(row, {{"batch", rate.batch},
                                          {"first", rate.first->id},
                                          {"article", or_null(rate.article)},
                                          {"here", or_null(rate.here)},
                                          {"low", or_null(rate.low)},
                                          {"high", or_null(rate.high)},
                                          {"seconds", row.total_s},
                                          {"by_construction", rate.by_construction},
                                          {"disturbed", disturbed}}));
  }
  data.params = {
      {"drawn", drawn},
      {"article", drawn.contains("the article") ? "article" : ""},
      {"end", 1.35 * longest},  // room for the text behind the longest bar
      {"multiples", rates.multiples},
      {"what", rates.multiples ? "times as many images/s as the first row of its chain of bases"
                               : "images/s on " + where_measured(summary)},
      {"disturbed",
       any_disturbed
           ? fmt::format(
                 "! others took {:.0f} % or more of its processor time, or its clock changed by {:.0f} %",
                 100 * kDisturbedShare, 100 * kChangedClock)
           : ""}};
  return any ? data : FigureData();
}

// Uses means: they add up to the step, while the median of a loader that delivers in bursts is near zero.
FigureData phases_data(const Summary& summary) {
  FigureData data;
  bool any_device = false;
  double longest_ms = 0;
  for (const SummaryRow& row : summary.rows) {
    data.values.push_back(row_value(row));
    const auto add = [&](const std::string& phase, const char* clock, double ms) {
      data.values.push_back({{"row", row.id}, {"phase", phase}, {"clock", clock}, {"ms", ms}});
      return ms;
    };
    double host_ms = 0, whole_device_ms = 0;
    for (const PhaseStatistics& phase : row.run.phases) host_ms += add(phase.name, "host", phase.mean_ms);
    if (row.ok() && !on_emulated_device(*row.record))  // its phases are the device's
      for (const std::string& phase : phase_names())
        if (const double ms = device_ms(*row.record, {phase}).value_or(0); ms > 0)
          whole_device_ms += add(phase, "device", ms);
    any_device = any_device || whole_device_ms > 0;
    longest_ms = std::max({longest_ms, host_ms, whole_device_ms});
  }
  data.params = {{"end", 1.15 * longest_ms},
                 {"where", where_measured(summary)},
                 {"step", any_device ? 26 : 21},
                 {"thin_bar", any_device ? "; thin bar: device time" : ""}};
  return longest_ms > 0 ? data : FigureData();
}

FigureData communication_data(const Summary& summary) {
  FigureData data;
  double longest_ms = 0;
  for (const SummaryRow& row : summary.rows) {
    const std::string strategy = row.config.strategy;
    if (!row.ok() && strategy != "single" && strategy != "data_parallel")
      data.values.push_back(row_value(row));
    if (!row.ok() || !row.communication) continue;
    const Communication& it = *row.communication;
    longest_ms = std::max({longest_ms, it.under_way_ms, it.exposed_ms, it.alone_ms});
    for (const auto& [time, ms] :
         {std::pair{"under way", it.under_way_ms}, std::pair{"exposed", it.exposed_ms},
          std::pair{"alone (ceiling)", it.alone_ms}})
      data.values.push_back(row_value(
          row,
          {{"time", time}, {"ms", ms}, {"bytes", it.all_reduced_bytes}, {"messages", it.messages.size()}}));
  }
  data.params = {{"end", 1.15 * longest_ms}, {"where", where_measured(summary)}};
  return longest_ms > 0 ? data : FigureData();
}

FigureData feed_data(const Summary& summary) {
  FigureData data;
  const auto answer = feed_answer(summary);
  if (!answer || answer->points.empty()) return data;
  for (const FeedPoint& point : answer->points)
    data.values.push_back({{"devices", point.devices},
                           {"utilisation", point.utilisation},
                           {"images_per_second", point.images_per_second},
                           {"runs", point.runs}});
  const double asked = double(answer->asked);
  data.params = {{"asked", answer->asked},
                 {"fed", answer->whole.value_or(0)},
                 {"fed_from", kFedFrom},
                 {"percent", std::lround(100 * kFedFrom)},
                 {"device", answer->device},
                 {"lowest", std::min(asked, answer->points.front().devices) / 1.15},
                 {"highest", std::max(asked, answer->points.back().devices) * 1.15}};
  return data;
}

}  // namespace harness
