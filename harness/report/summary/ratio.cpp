#include "harness/report/summary/ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "harness/stats/disturbance.h"

namespace harness {
namespace {

std::vector<double> figures(const SummaryRow& row, const std::vector<size_t>& runs,
                            const std::vector<std::string>& phases) {
  std::vector<double> values;
  for (const size_t run : runs) values.push_back(phases_ms(row.runs.at(run), phases));
  return values;
}

std::vector<size_t> of_rounds(const RecordList& records, const std::set<int64_t>& rounds) {
  std::vector<size_t> places;
  for (size_t i = 0; i < records.size(); ++i)
    if (rounds.contains(records[i]->repeat)) places.push_back(i);
  return places;
}

std::set<int64_t> rounds_of(const RecordList& records) {
  std::set<int64_t> rounds;
  for (const Record* record : records) rounds.insert(record->repeat);
  return rounds;
}

}  // namespace

Ratio ratio_of(const std::vector<double>& base, const std::vector<double>& row) {
  const auto positive = [](const std::vector<double>& values) {
    return !values.empty() &&
           std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
  };
  if (!positive(base) || !positive(row)) return {};
  const Effect effect = unpaired_effect(base, row);
  const size_t runs = std::min(effect.a, effect.b);
  if (runs >= kFewestRuns) return {effect.ratio, effect.low, effect.high, runs, effect.log_ratio, true};
  const auto [base_low, base_high] = std::minmax_element(base.begin(), base.end());
  const auto [row_low, row_high] = std::minmax_element(row.begin(), row.end());
  return {effect.ratio, *base_low / *row_high, *base_high / *row_low, runs};
}

Ratio share_of(const std::vector<double>& shares) {
  if (shares.empty()) return {};
  const Location location = location_of(shares);
  return {location.value, location.low, location.high, location.runs, location.mean};
}

ComparedRuns compared_runs(const SummaryRow& base, const SummaryRow& row) {
  const std::set<int64_t> of_base = rounds_of(base.records), of_row = rounds_of(row.records);
  std::set<int64_t> of_both;
  std::set_intersection(of_base.begin(), of_base.end(), of_row.begin(), of_row.end(),
                        std::inserter(of_both, of_both.end()));
  const bool few = std::min(base.records.size(), row.records.size()) < kFewestRuns;
  if (few && !of_both.empty()) return {of_rounds(base.records, of_both), of_rounds(row.records, of_both)};
  return {of_rounds(base.records, of_base), of_rounds(row.records, of_row)};
}

RecordList chosen(const RecordList& records, const std::vector<size_t>& places) {
  RecordList some;
  for (const size_t place : places) some.push_back(records.at(place));
  return some;
}

Ratio total_ratio(const SummaryRow& base, const SummaryRow& row) {
  const ComparedRuns runs = compared_runs(base, row);
  const RecordList of_base = chosen(base.records, runs.base), of_row = chosen(row.records, runs.row);
  const ComparedSeconds seconds(of_base, of_row);
  Ratio ratio = ratio_of(seconds.of(of_base), seconds.of(of_row));
  ratio.undisturbed = seconds.undisturbed();
  return ratio;
}

Ratio phase_ratio(const SummaryRow& base, const SummaryRow& row, const std::vector<std::string>& phases) {
  const ComparedRuns runs = compared_runs(base, row);
  return ratio_of(figures(base, runs.base, phases), figures(row, runs.row, phases));
}

double phases_ms(const RunStatistics& run, const std::vector<std::string>& phases) {
  double sum = 0;
  for (const PhaseStatistics& phase : run.phases)
    if (std::find(phases.begin(), phases.end(), phase.name) != phases.end()) sum += phase.mean_ms;
  return sum;
}

std::string text_of(const Ratio& ratio) {
  if (ratio.runs == 1) return fmt::format("{:.2f}", ratio.value);
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", ratio.value, ratio.low, ratio.high);
}

}  // namespace harness
