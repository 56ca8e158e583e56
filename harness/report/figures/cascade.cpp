// The cascade: images/s of every row beside the article's, in its order.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/summary/rates.h"
#include "harness/stats/disturbance.h"

namespace harness {

using nlohmann::json;

bool fill_cascade(json& spec, const FigureSource& source) {
  const Summary& summary = source.summary;
  const Rates rates = rates_of(summary);
  json values = json::array();
  double largest = 0;
  bool any = false, by_construction = false, disturbed = false;
  int64_t batch = 0;
  for (const RowRate& rate : rates.rows) {
    const SummaryRow& row = *rate.row;
    json value = row_values(row);
    // Marked where it differs from the row above, because images/s of unlike batches can't simply be
    // compared.
    value.update({{"batch", std::to_string(rate.batch)}, {"other_batch", batch != 0 && rate.batch != batch}});
    batch = rate.batch;
    const auto text = [&](double number) { return fmt::format("{:.{}f}", number, rates.multiples ? 2 : 0); };
    const std::string of_what = rates.multiples ? fmt::format(" x [{}]", rate.first->id) : "";
    double end = 0;
    if (rate.article) {
      end = *rate.article;
      value.update({{"article", *rate.article}, {"article_label", text(*rate.article)}});
    }
    if (rate.here) {
      any = true;
      end = std::max(end, *rate.high);
      const bool is_disturbed = !disturbance_text(row.records).empty() && summary.device != "emulated";
      disturbed = disturbed || is_disturbed;
      by_construction = by_construction || rate.by_construction;
      value.update({{"here", *rate.here},
                    {"low", *rate.low},
                    {"high", *rate.high},
                    {"seconds", row.total_s},
                    {"whose", rate.by_construction ? "by construction" : "this run"},
                    {"here_label", text(*rate.here) + of_what + (is_disturbed ? "!" : "")}});
    } else {
      value.update(
          {{"reason_label", row.ok() ? "no figure of the row that it is a multiple of" : reason_of(row)},
           {"reason", row.reason}});
    }
    value["end"] = end;
    largest = std::max(largest, end);
    values.push_back(value);
  }
  if (!any) return false;
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = row_order(summary);
  spec["params"] = {{{"name", "longest"}, {"value", largest * 1.35}}};
  spec["/layer/0/encoding/x/scale"_json_pointer] = domain_to(largest, 1.35);
  json title = {rates.multiples
                    ? "times as many images/s as the first row of its chain of bases (longer is faster)"
                    : fmt::format("images/s on {} (longer is faster)", where_measured(summary))};
  if (disturbed)
    title.push_back(
        fmt::format("! others took {:.0f} % or more of its processor time, or its clock changed by {:.0f} %",
                    100 * kDisturbedShare, 100 * kChangedClock));
  spec["/layer/0/encoding/x/title"_json_pointer] = title;
  set_title(spec, source, "the cascade, row by row");
  return true;
}

}  // namespace harness
