// Metrics: the figures of a row in tables, each defined by one entry. The entries define the columns of
// table.csv and of the main table (console, Markdown, page), and the list in results/README.md.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

enum class Better { lower, higher };  // the direction in which a metric improves

struct Metric {
  std::string name;         // column of table.csv
  std::string unit;         // `text` for words; empty for ratios
  std::string description;  // one line
  // One of the two is set. `figure` is called only for rows with status OK; nullopt makes the cell empty,
  // because a zero would distort what a reader computes from the column.
  std::function<std::optional<double>(const SummaryRow&)> figure = {};
  std::function<std::string(const Summary&, const SummaryRow&)> text = {};
  // For the main table: the column's header (empty: no column) and its digits after the decimal point.
  std::string header = {};
  int decimals = kFourDigits;
  bool only_where_known = false;  // no column if no row has a figure
  // Set for metrics that are followed from night to night: a history stores their values.
  std::optional<Better> better = {};

  static constexpr int kFourDigits = -1;  // as four_digits() formats it
};

const std::vector<Metric>& metrics();           // in the order of the columns
const Metric& metric(const std::string& name);  // throws std::out_of_range for an unknown name

// Its parts in metrics_of_batches.cpp.
std::vector<Metric> step_metrics();
std::vector<Metric> communication_metrics();
std::vector<Metric> phase_metrics();
std::vector<Metric> gpu_metrics();

// A cell of table.csv, empty without a figure, and a cell of the main table, `-` without a figure.
std::string csv_text(const Metric& metric, const Summary& summary, const SummaryRow& row);
std::string cell_text(const Metric& metric, const SummaryRow& row);

// A Markdown table with name, unit, direction and description of all metrics.
std::string metrics_as_markdown();
std::string metrics_as_json();

// Two decimals below 10, one below 1000, otherwise none.
std::string four_digits(double value);

}  // namespace harness
