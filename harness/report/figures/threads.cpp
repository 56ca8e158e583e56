// The sweep over loader threads: seconds, and the remaining wait for the loader.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

// Rows that differ from their base in threads, and these bases, ordered by the number of loader threads.
std::vector<const SummaryRow*> swept_rows(const Summary& summary) {
  std::vector<const SummaryRow*> rows;
  for (const SummaryRow& row : summary.rows) {
    const bool is_base = std::any_of(summary.rows.begin(), summary.rows.end(), [&](const SummaryRow& other) {
      return other.group == "threads" && other.config.base == row.id;
    });
    if (row.group == "threads" || is_base) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SummaryRow* a, const SummaryRow* b) {
    return a->config.loader_threads < b->config.loader_threads;
  });
  return rows;
}

double load_share(const SummaryRow& row) {
  for (const PhaseStatistics& phase : row.run.phases)
    if (phase.name == "load") return phase.share;
  return 0;
}

json value_of(const SummaryRow& row) {
  const int64_t threads = row.config.loader_threads, cpus = row.config.cpus;
  json value = row_values(row);
  value.update(
      {{"label", fmt::format("row {}|{} threads|{} {}", row.id, threads, cpus, cpus == 1 ? "core" : "cores")},
       {"threads", threads},
       {"cpus", cpus}});
  if (!row.ok()) {
    value.update({{"reason_label", reason_of(row)}, {"reason", row.reason}});
    return value;
  }
  value.update({{"total_s", row.total_s},
                {"min_s", row.total_min_s},
                {"max_s", row.total_max_s},
                {"value_label", fmt::format("{:.{}f} s", row.total_s, row.total_s < 10 ? 2 : 1)}});
  if (row.run.has_samples)
    value.update(
        {{"load_share", load_share(row)}, {"share_label", fmt::format("{:.0f} %", 100 * load_share(row))}});
  return value;
}

}  // namespace

bool fill_threads(json& spec, const FigureSource& source) {
  const auto rows = swept_rows(source.summary);
  if (std::count_if(rows.begin(), rows.end(), [](const SummaryRow* row) { return row->ok(); }) < 2)
    return false;
  json values = json::array(), order = json::array();
  for (const SummaryRow* row : rows) {
    values.push_back(value_of(*row));
    order.push_back(values.back()["label"]);
  }
  spec["data"] = {{"values", values}};
  for (const char* panel : {"/hconcat/0", "/hconcat/1"})
    spec[json::json_pointer(std::string(panel) + "/encoding/x/sort")] = order;
  spec["/hconcat/0/layer/0/encoding/y/title"_json_pointer] =
      fmt::format("seconds per {} batches (shorter is faster)", source.summary.timed_batches);
  set_title(spec, source, fmt::format("more loader threads, on {}", rows.front()->ran));
  return true;
}

}  // namespace harness
