// The time of every batch of the key rows in order, with the warm-up marked: shows drift, outliers, start-up.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kMostPoints = 600;  // more points would overlap

// Points of one row; batches are counted from the first timed one. A point above `limit` is drawn at the
// limit, so that one slow batch doesn't compress the axis.
void add_points(const std::string& row, const std::vector<double>& steps, long first, const char* part,
                double limit, json& values) {
  const size_t every = (steps.size() + kMostPoints - 1) / kMostPoints;
  for (size_t begin = 0; begin < steps.size(); begin += every) {
    const size_t end = std::min(begin + every, steps.size());
    const double slowest = *std::max_element(steps.begin() + long(begin), steps.begin() + long(end));
    values.push_back({{"row", row},
                      {"batch", first + long(begin)},
                      {"ms", rounded(slowest)},
                      {"shown_ms", rounded(std::min(slowest, limit))},
                      {"part", slowest > limit ? "beyond the axis" : part}});
  }
}

}  // namespace

bool fill_batches(json& spec, const FigureSource& source) {
  json values = json::array();
  std::vector<PanelTitle> panels;
  size_t longest = 0;
  for (const SummaryRow* row : key_rows(source.summary)) {
    const RunStatistics& run = row->run;
    const double limit = 1.3 * std::max(run.p99_ms, run.median_ms);
    const std::vector<double> warmup = steps_of(row->record->warmup_ms);
    const std::vector<double> timed = steps_of(row->record->samples_ms);
    const long before = -static_cast<long>(warmup.size());
    add_points(row->id, warmup, before, "warm-up", limit, values);
    add_points(row->id, timed, 0, "timed", limit, values);
    values.push_back({{"row", row->id}, {"median_ms", rounded(run.median_ms)}});
    values.push_back({{"row", row->id}, {"warmup_from", before}, {"warmup_to", 0}});
    panels.push_back({row, fmt::format("median {:.1f} ms, p95 {:.1f} ms", run.median_ms, run.p95_ms)});
    longest = std::max(longest, timed.size());
  }
  if (panels.empty()) return false;
  spec["data"] = {{"values", values}};
  set_panels(spec, panels);
  spec["/spec/layer/1/encoding/color/scale"_json_pointer] = colour_scale(source.palette.batches);
  set_title(spec, source,
            longest > kMostPoints ? "time of batches in order; each point is the slowest of several"
                                  : "time of every batch in order",
            {missing_key_rows(source.summary)});
  return true;
}

}  // namespace harness
