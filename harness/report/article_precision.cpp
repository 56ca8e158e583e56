// Tables 3 and 8: number formats, on one device and on top of DDP.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/article_grid.h"
#include "harness/report/article_tables.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

const std::vector<std::pair<std::string, std::string>> kPrecisions = {
    {"tmpfs", "o0"}, {"o1", "o1"}, {"o2", "o2"}, {"o3", "o3"}};  // row, precision

std::string label_of(const SummaryRow& row) {
  const std::string label = row.record->precision.label;
  return label.empty() ? setting_of(row, "precision") : label;
}

std::string percent(double value, double low, double high) {
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", 100 * value, 100 * low, 100 * high);
}

std::string signed_points(double value, double low, double high) {
  return fmt::format("{:+.1f} ({:+.1f} to {:+.1f})", 100 * value, 100 * low, 100 * high);
}

std::vector<std::string> accuracy_cells(const std::string& id, const AccuracyRow& row) {
  const std::string label = row.label.empty() ? row.precision : row.label;
  if (!row.ok()) return {id, label, row.status, "-", "-", "-", "-", "-"};
  return {id,
          label,
          percent(row.top1, row.top1_min, row.top1_max),
          percent(row.top5, row.top5_min, row.top5_max),
          row.paired_seeds > 0 && row.precision != "o0"
              ? signed_points(row.less_o0, row.less_o0_min, row.less_o0_max)
              : "-",
          std::to_string(row.seeds),
          std::to_string(row.diverged),
          std::to_string(row.budget_images)};
}

void add_accuracy_values(const std::string& id, const AccuracyRow& row, std::vector<GridValue>& values) {
  values.push_back({id, "status", "text", row.status});
  values.push_back({id, "as run", "text", row.label.empty() ? row.precision : row.label});
  const auto add = [&](const char* quantity, const char* unit, bool known, Reading reading) {
    values.push_back({id, quantity, unit, "", known ? reading : Reading()});
  };
  const bool paired = row.ok() && row.paired_seeds > 0 && row.precision != "o0";
  add("top-1", "%", row.ok(), {100 * row.top1, 100 * row.top1_min, 100 * row.top1_max, {}});
  add("top-5", "%", row.ok(), {100 * row.top5, 100 * row.top5_min, 100 * row.top5_max, {}});
  add("top-1 less o0", "points", paired,
      {100 * row.less_o0, 100 * row.less_o0_min, 100 * row.less_o0_max, {}});
  add("seeds", "count", row.ok(), {double(row.seeds), {}, {}, {}});
  add("diverged", "count", row.ok(), {double(row.diverged), {}, {}, {}});
  add("images trained", "images", row.ok(), {double(row.budget_images), {}, {}, {}});
}

}  // namespace

Grid precision_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 3: precision, speed";
  table.rows = {"tmpfs", "o1", "o2", "o3"};
  table.subjects = {"o1", "o2", "o3"};
  table.columns =
      joined({text_column("as run", label_of), total_column(), phase_column("load", {"load"}),
              phase_column("H2D", {"h2d"}), phase_column("fwd", {"forward"}), phase_column("loss", {"loss"}),
              phase_column("bwd", {"backward"}), phase_column("SGD", {"step"})},
             ratio_columns(summary, table.rows));
  if (summary.accuracy.empty())
    table.notes = {
        "Accuracy is measured by another run: `./run_matrix --accuracy` trains each precision on the same "
        "number of images."};
  return article_grid(summary, table);
}

Grid trained_accuracy_grid(const Summary& summary) {
  Grid grid;
  bool synthetic = false;
  for (const auto& [id, precision] : kPrecisions)
    for (const AccuracyRow& row : summary.accuracy) {
      if (row.precision != precision) continue;
      synthetic = synthetic || row.kind == "synthetic";
      grid.rows.push_back(accuracy_cells(id, row));
      add_accuracy_values(id, row, grid.values);
      if (!row.ok()) grid.notes.push_back(fmt::format("{}: {}: {}", id, row.status, one_line(row.reason)));
    }
  if (grid.empty()) return grid;
  grid.title =
      synthetic ? "Table 3: precision, accuracy on synthetic classes" : "Table 3: precision, accuracy";
  grid.above = lines_above(summary);
  grid.columns = {
      {"row", true}, {"as run", true}, {"top-1 %"},       {"top-5 %"}, {"less o0, points of top-1"},
      {"seeds"},     {"diverged"},     {"images trained"}};
  grid.notes.insert(
      grid.notes.begin(),
      "median and range over seeds; less o0: difference from o0 over the seeds that both have. The article "
      "calls O1 or O2 `without any loss of accuracy`.");
  if (synthetic)
    grid.notes.insert(
        grid.notes.begin() + 1,
        "Synthetic classes are easier to distinguish than ImageNet's: no evidence for that claim.");
  return grid;
}

Grid ddp_and_o2_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 8: DDP and O2";
  table.rows = {"12", "16"};
  table.subjects = {"16"};
  ArticleColumn bytes = figure_column("reduced MB", "all-reduced", "MB", [](const SummaryRow& row) {
    return row.communication ? row.communication->all_reduced_bytes / 1e6 : 0;
  });
  bytes.optional = true;
  table.columns = joined({text_column("as run", label_of), total_column(), phase_column("load", {"load"}),
                          phase_column("bcast", {"broadcast"}), phase_column("fwd", {"forward"}),
                          phase_column("bwd", {"backward"}), phase_column("SGD", {"step"}),
                          phase_column("sync", {"sync"}), bytes},
                         ratio_columns(summary, table.rows));
  table.notes = {
      "bcast: batch-norm statistics from rank 0, and waiting for the slowest rank. sync: all-reduces "
      "that backward did not hide."};
  return article_grid(summary, table);
}

}  // namespace harness
