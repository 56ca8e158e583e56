// The table as CSV: every figure of a summary row in a column of its own, for other programs to read. A cell
// without a figure is empty: a zero would count in whatever is computed from the column.
#include <fmt/format.h>

#include <functional>

#include "harness/report/grid.h"
#include "harness/report/table.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

std::string csv_number(double value) { return fmt::format("{:.6g}", value); }
std::string csv_number(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }
// Of figures that are above zero wherever there are any.
std::string positive(double value) { return value > 0 ? csv_number(value) : ""; }

struct Column {
  std::string name;
  bool is_figure;  // empty unless the row is OK
  std::function<std::string(const Summary&, const SummaryRow&)> cell;
};

Column config(const std::string& field) {
  return {field, false,
          [field](const Summary&, const SummaryRow& row) { return field_text(row.config, field); }};
}

Column figure(const std::string& name, std::function<std::string(const SummaryRow&)> cell) {
  return {name, true, [cell](const Summary&, const SummaryRow& row) { return cell(row); }};
}

// Of the batches: empty for a row that ran without phase clock.
Column sample(const std::string& name, std::function<std::string(const RunStatistics&)> cell) {
  return {name, true,
          [cell](const Summary&, const SummaryRow& row) { return row.run.has_samples ? cell(row.run) : ""; }};
}

// Empty without a base in the same table.
Column beside_base(const std::string& name, bool SummaryRow::*differs) {
  return {name, true, [differs](const Summary& summary, const SummaryRow& row) -> std::string {
            const std::string base = row.config.base;
            for (const SummaryRow& other : summary.rows)
              if (other.id == base && other.id != row.id) return row.*differs ? "1" : "0";
            return "";
          }};
}

std::vector<Column> columns() {
  std::vector<Column> list = {
      {"row", false, [](const Summary&, const SummaryRow& row) { return row.id; }},
      config("title"),
      {"status", false, [](const Summary&, const SummaryRow& row) { return row.status; }},
      {"reason", false, [](const Summary&, const SummaryRow& row) { return row.reason; }},
      {"scale", false, [](const Summary& summary, const SummaryRow&) { return summary.scale; }},
      {"device", false, [](const Summary& summary, const SummaryRow&) { return summary.device; }},
      figure("ran", [](const SummaryRow& row) { return row.ran; }),
      figure("cache", [](const SummaryRow& row) { return row.cache; }),
      config("batch"),
      config("window"),
      config("base"),
      config("identity"),
      config("inferred"),
      {"group", false, [](const Summary&, const SummaryRow& row) { return row.group; }},
      {"repeats", false,
       [](const Summary&, const SummaryRow& row) { return fmt::format("{}", row.repeats); }},
      {"repeats_ok", false,
       [](const Summary&, const SummaryRow& row) { return fmt::format("{}", row.repeats_ok); }},
      figure("timed_batches", [](const SummaryRow& row) { return fmt::format("{}", row.run.batches); }),
      figure("total_s", [](const SummaryRow& row) { return csv_number(row.total_s); }),
      figure("total_min_s", [](const SummaryRow& row) { return csv_number(row.total_min_s); }),
      figure("total_max_s", [](const SummaryRow& row) { return csv_number(row.total_max_s); }),
      figure("images_per_second", [](const SummaryRow& row) { return csv_number(row.images_per_second); }),
      figure("ratio_to_base", [](const SummaryRow& row) { return csv_number(row.ratio); }),
      beside_base("batch_differs", &SummaryRow::batch_differs),
      beside_base("window_differs", &SummaryRow::window_differs),
      {"published_s", false,
       [](const Summary&, const SummaryRow& row) { return positive(row.config.published_s); }},
      figure("published_ratio", [](const SummaryRow& row) { return csv_number(row.published_ratio); }),
      sample("mean_ms", [](const RunStatistics& run) { return csv_number(run.mean_ms); }),
      sample("median_ms", [](const RunStatistics& run) { return csv_number(run.median_ms); }),
      sample(
          "median_within_run_ci_low_ms",
          [](const RunStatistics& run) { return run.median_ci_ms ? csv_number(run.median_ci_ms->low) : ""; }),
      sample("median_within_run_ci_high_ms",
             [](const RunStatistics& run) {
               return run.median_ci_ms ? csv_number(run.median_ci_ms->high) : "";
             }),
      sample("iqr_share", [](const RunStatistics& run) { return csv_number(run.iqr_share); }),
      sample("p5_ms", [](const RunStatistics& run) { return csv_number(run.p5_ms); }),
      sample("p95_ms", [](const RunStatistics& run) { return csv_number(run.p95_ms); }),
      sample("p99_ms", [](const RunStatistics& run) { return csv_number(run.p99_ms); }),
      sample("max_ms", [](const RunStatistics& run) { return csv_number(run.max_ms); }),
      sample("startup_ms", [](const RunStatistics& run) { return csv_number(run.startup_ms); }),
      figure("skew_ms",
             [](const SummaryRow& row) {
               const bool several = double(row.record->world_size) > 1 && row.run.has_samples;
               return several ? csv_number(row.run.skew_ms) : "";
             }),
      sample("rho_1", [](const RunStatistics& run) { return csv_number(run.rho_1); }),
      sample("tau_int", [](const RunStatistics& run) { return csv_number(run.tau_int); }),
      sample("n_eff", [](const RunStatistics& run) { return csv_number(run.n_eff); }),
      sample("drift_share",
             [](const RunStatistics& run) { return run.batches >= 3 ? csv_number(run.drift_share) : ""; }),
      sample("drift_ci_low",
             [](const RunStatistics& run) { return run.drift_ci ? csv_number(run.drift_ci->low) : ""; }),
      sample("drift_ci_high",
             [](const RunStatistics& run) { return run.drift_ci ? csv_number(run.drift_ci->high) : ""; }),
  };
  const auto carried = [&](const char* name, std::function<std::string(const Communication&)> cell) {
    list.push_back(figure(name, [cell](const SummaryRow& row) {
      return row.communication ? cell(*row.communication) : std::string();
    }));
  };
  carried("all_reduced_bytes_per_batch",
          [](const Communication& it) { return positive(it.all_reduced_bytes); });
  carried("all_reduces_per_batch",
          [](const Communication& it) { return positive(double(it.messages.size())); });
  carried("communication_ms", [](const Communication& it) { return positive(it.under_way_ms); });
  list.push_back(figure("exposed_ms", [](const SummaryRow& row) {
    return row.communication && row.run.has_samples ? csv_number(row.communication->exposed_ms) : "";
  }));
  carried("all_reduces_alone_ms", [](const Communication& it) { return positive(it.alone_ms); });
  carried("link_bytes_share", [](const Communication& it) { return positive(it.link_share.value_or(0)); });
  for (const std::string& name : phase_names())
    for (const char* what : {"share", "median_ms"})
      list.push_back(sample(
          name + "_" + what, [name, is_share = std::string(what) == "share"](const RunStatistics& run) {
            for (const PhaseStatistics& phase : run.phases)
              if (phase.name == name && phase.mean_ms > 0)  // else the row has no such phase
                return csv_number(is_share ? phase.share : phase.median_ms);
            return std::string();
          }));
  list.push_back({"flags", false, [](const Summary&, const SummaryRow& row) {
                    std::string texts;
                    for (const Flag& flag : row.flags) texts += (texts.empty() ? "" : "; ") + flag.text;
                    return texts;
                  }});
  return list;
}

}  // namespace

std::string csv_table(const std::vector<Summary>& summaries) {
  const std::vector<Column> list = columns();
  std::string text;
  for (const Column& column : list) text += (text.empty() ? "" : ",") + column.name;
  text += "\r\n";
  for (const Summary& summary : summaries)
    for (const SummaryRow& row : summary.rows) {
      std::string line;
      for (const Column& column : list) {
        if (&column != &list.front()) line += ",";
        if (!column.is_figure || row.ok()) line += csv_cell(column.cell(summary, row));
      }
      text += line + "\r\n";
    }
  return text;
}

}  // namespace harness
