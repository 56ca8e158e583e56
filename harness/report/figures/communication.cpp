// Communication between the ranks of each row per batch, and how much of it was hidden by computing.
#include "harness/report/summary/communication.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"

namespace harness {
namespace {

using nlohmann::json;

bool has_ranks(const SummaryRow& row) {
  if (row.communication) return true;
  const std::string strategy = row.config.strategy;
  return !row.ok() && strategy != "single" && strategy != "data_parallel";
}

std::string volume_of(const Communication& it) {
  const double bytes = it.all_reduced_bytes;
  const std::string amount =
      bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6) : fmt::format("{:.0f} KB", bytes / 1e3);
  return fmt::format("{} in {}", amount, it.messages.size());
}

}  // namespace

bool fill_communication(json& spec, const FigureSource& source) {
  json values = json::array(), order = json::array();
  double largest = 0;
  bool any = false;
  for (const SummaryRow& row : source.summary.rows) {
    if (!has_ranks(row)) continue;
    order.push_back(row.id);
    json line = row_values(row);
    if (!row.ok()) {
      line.update({{"reason_label", reason_of(row)}, {"reason", row.reason}});
    } else {
      any = true;
      const Communication& it = *row.communication;
      line["volume"] = volume_of(it);
      for (const auto& [time, ms] :
           {std::pair{"under way", it.under_way_ms}, std::pair{"exposed", it.exposed_ms},
            std::pair{"alone (ceiling)", it.alone_ms}}) {
        values.push_back({{"row", row.id},
                          {"time", time},
                          {"ms", ms},
                          {"ran", row.ran},
                          {"volume", line["volume"]},
                          {"label", fmt::format("{:.1f} ms", ms)}});
        largest = std::max(largest, ms);
      }
    }
    values.push_back(line);
  }
  if (!any) return false;
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = order;
  const json scale = colour_scale(source.palette.communication);
  spec["/layer/0/encoding/color/scale"_json_pointer] = scale;
  for (const char* layer : {"/layer/0", "/layer/1"})
    spec[json::json_pointer(std::string(layer) + "/encoding/yOffset/sort")] = scale["domain"];
  spec["/layer/0/encoding/x/title"_json_pointer] = {
      fmt::format("ms per batch on {},", where_measured(source.summary)), "mean of batches"};
  spec["/layer/0/encoding/x/scale"_json_pointer] = domain_to(largest, 1.15);
  spec["height"] = 42 * order.size();
  set_title(spec, source, "communication between ranks, and how much of it computing hides",
            {"under way: a collective was posted and not done, waits for slower ranks included; exposed: not "
             "hidden by computing;",
             "alone: the same all-reduces with nothing else running, the ceiling"});
  return true;
}

}  // namespace harness
