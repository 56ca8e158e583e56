// Metrics: what tables show of a row, each defined by one entry. The columns of table.csv, those of the main
// table (console, Markdown, page), `list --metrics` and the list in results/README.md follow from it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

struct Metric {
  std::string name;         // column of table.csv
  std::string unit;         // `text` for words; empty for ratios
  std::string description;  // one line
  // One of the two. A figure is asked for only of rows with status OK; none: the cell is empty, because a
  // zero would count in whatever a reader computes from the column.
  std::function<std::optional<double>(const SummaryRow&)> figure = {};
  std::function<std::string(const Summary&, const SummaryRow&)> text = {};
  // Of the main table: the column's header and its digits behind the point, kFourDigits for about four in
  // all.
  std::string header = {};
  int decimals = kFourDigits;

  static constexpr int kFourDigits = -1;
};

const std::vector<Metric>& metrics();           // in the order of the columns
const Metric& metric(const std::string& name);  // throws std::out_of_range for an unknown one

// A cell of table.csv and one of the main table, there `-` where there is no figure.
std::string csv_text(const Metric& metric, const Summary& summary, const SummaryRow& row);
std::string cell_text(const Metric& metric, const SummaryRow& row);

// Name, unit and description of all, as Markdown's table rows.
std::string metrics_as_markdown();

// About four digits, so that columns stay narrow at every scale.
std::string four_digits(double value);

}  // namespace harness
