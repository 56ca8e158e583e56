#include "harness/report/summary/ratio.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/stats/disturbance.h"

namespace harness {
namespace {

std::vector<double> figures(const SummaryRow& row, const std::vector<std::string>& phases) {
  std::vector<double> values;
  for (const RunStatistics& run : row.runs) values.push_back(phases_ms(run, phases));
  return values;
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

Ratio total_ratio(const SummaryRow& base, const SummaryRow& row) {
  const ComparedSeconds seconds(base.records, row.records);
  Ratio ratio = ratio_of(seconds.of(base.records), seconds.of(row.records));
  ratio.undisturbed = seconds.undisturbed();
  return ratio;
}

Ratio phase_ratio(const SummaryRow& base, const SummaryRow& row, const std::vector<std::string>& phases) {
  return ratio_of(figures(base, phases), figures(row, phases));
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
