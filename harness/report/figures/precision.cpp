// Precision: the speed of each number format and, from rows with `validation`, its accuracy.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

// Rows that differ from their base in precision, each after its base.
std::vector<const SummaryRow*> compared_rows(const Summary& summary) {
  std::vector<const SummaryRow*> rows;
  const auto add = [&](const SummaryRow& row) {
    if (std::find(rows.begin(), rows.end(), &row) == rows.end()) rows.push_back(&row);
  };
  for (const SummaryRow& row : summary.rows) {
    if (row.group != "precision") continue;
    for (const SummaryRow& base : summary.rows)
      if (base.id == row.config.base) add(base);
    add(row);
  }
  return rows;
}

json speed_of(const SummaryRow& row) {
  json value = row_values(row);
  value.update({{"part", "speed"}, {"label", fmt::format("{}: {}", row.id, row.title)}});
  if (!row.ok()) {
    value.update({{"reason_label", reason_of(row)}, {"reason", row.reason}});
    return value;
  }
  const std::string base = row.config.base;
  std::string label = fmt::format("{:.0f}", row.images_per_second);
  if (row.group == "precision" && row.ratio) {
    value["ratio_label"] = fmt::format("\u00d7{:.2f} vs {}", *row.ratio, base);
    label += ", " + value["ratio_label"].get<std::string>();
  }
  value.update({{"images_per_second", row.images_per_second}, {"value_label", label}});
  return value;
}

json accuracy_of(const AccuracyRow& row) {
  return {{"part", "accuracy"},
          {"precision", row.precision},
          {"kind", row.kind},
          {"seeds", row.seeds},
          {"top1", row.top1},
          {"top1_min", row.top1_min},
          {"top1_max", row.top1_max},
          {"top5", row.top5},
          {"images_per_second", row.seconds > 0 ? double(row.budget_images) / row.seconds : 0}};
}

std::string accuracy_note(const Summary& summary) {
  std::string note;
  for (const AccuracyRow& row : summary.accuracy) {
    if (row.ok() && row.kind == "synthetic" && note.empty())
      note = "Accuracy on synthetic classes: no evidence about ImageNet. Range over seeds.";
    if (!row.ok()) note += fmt::format(" {}: {}.", row.precision, row.status);
  }
  return note;
}

}  // namespace

bool fill_precision(json& spec, const FigureSource& source) {
  json values = json::array(), order = json::array();
  double fastest = 0;
  for (const SummaryRow* row : compared_rows(source.summary)) {
    values.push_back(speed_of(*row));
    order.push_back(values.back()["label"]);
    fastest = std::max(fastest, row->ok() ? row->images_per_second : 0);
  }
  json accuracies = json::array();
  for (const AccuracyRow& row : source.summary.accuracy)
    if (row.ok()) accuracies.push_back(accuracy_of(row));
  if (fastest == 0 && accuracies.empty()) return false;
  json& panels = spec["hconcat"];
  panels[0]["encoding"]["y"]["sort"] = order;
  panels[0]["layer"][0]["encoding"]["x"]["scale"] = domain_to(fastest, 1.45);
  if (accuracies.empty()) {
    panels[0]["width"] = 620;
    panels.erase(1);
  } else if (fastest == 0) {
    panels.erase(0);
  }
  values.insert(values.end(), accuracies.begin(), accuracies.end());
  spec["data"] = {{"values", values}};
  set_title(
      spec, source,
      accuracies.empty() ? "precision: speed (no accuracy was measured)" : "precision: speed and accuracy",
      {accuracy_note(source.summary)});
  return true;
}

}  // namespace harness
