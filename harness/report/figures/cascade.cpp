// The cascade: seconds of every row with the ratio to its base, here and in the article.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/records.h"

namespace harness {

using nlohmann::json;

bool fill_cascade(json& spec, const FigureSource& source) {
  const Summary& summary = source.summary;
  json values = json::array();
  double largest = 0;
  bool other_batch = false, repeated = false, disturbed = false;
  for (const SummaryRow& row : summary.rows) {
    json value = row_values(row);
    value["total_s"] = nullptr;
    if (row.ok()) {
      value.update({{"total_s", row.total_s},
                    {"min_s", row.total_min_s},
                    {"max_s", row.total_max_s},
                    {"images_per_second", row.images_per_second},
                    {"group", row.group},
                    {"value_label", fmt::format("{:.{}f} s", row.total_s, row.total_s < 10 ? 2 : 1)}});
      largest = std::max(largest, row.total_max_s);
      repeated = repeated || row.total_max_s > row.total_min_s;
      if (const double others = most_taken_share(row.records); others > 0) {
        value["others"] = others;
      }
      if (!disturbance_text(row.records).empty()) {
        value["value_label"] = value["value_label"].get<std::string>() + "!";
        disturbed = true;
      }
      other_batch = other_batch || (row.ratio && row.batch_differs);
      if (row.ratio)
        value["ratio_label"] =
            fmt::format("\u00d7{:.2f}{} vs {}", *row.ratio, row.batch_differs ? "*" : "", row.config.base);
      if (row.published_ratio) value["published_label"] = fmt::format("\u00d7{:.2f}", *row.published_ratio);
    } else {
      value["reason_label"] = reason_of(row);
      value["reason"] = row.reason;
    }
    values.push_back(value);
  }
  if (largest == 0) return false;
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = row_order(summary);
  json& colour = spec["/layer/0/encoding/color"_json_pointer];
  colour["scale"] = colour_scale(source.palette.groups);
  colour["legend"]["values"] = present(source.palette.groups, values, "group");
  json axis_title = {
      fmt::format("seconds per {} batches on {} (shorter is faster)", summary.timed_batches, summary.device)};
  if (repeated) axis_title.push_back("bar: median of the repeats; line: fastest to slowest repeat");
  if (disturbed)
    axis_title.push_back(
        fmt::format("! others took {:.0f} % or more of its processor time, or its clock changed by {:.0f} %",
                    100 * kDisturbedShare, 100 * kChangedClock));
  if (other_batch) axis_title.push_back("* the base has another batch size");
  spec["/layer/0/encoding/x/title"_json_pointer] = axis_title;
  spec["/layer/0/encoding/x/scale"_json_pointer] = domain_to(largest, 1.25);
  set_title(spec, source, fmt::format("seconds per {} batches, row by row", summary.timed_batches));
  return true;
}

}  // namespace harness
