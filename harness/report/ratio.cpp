#include "harness/report/ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace harness {
namespace {

double resampled_median(const std::vector<double>& values, std::mt19937_64& random) {
  std::vector<double> sample;
  for (size_t i = 0; i < values.size(); ++i) sample.push_back(values[random() % values.size()]);
  return median(sample);
}

std::vector<double> figures(const SummaryRow& row, const std::vector<std::string>& phases) {
  std::vector<double> values;
  for (const RunStatistics& run : row.runs) values.push_back(phases_ms(run, phases));
  return values;
}

}  // namespace

Ratio ratio_of(std::vector<double> base, std::vector<double> row) {
  Ratio ratio;
  if (base.empty() || row.empty() || median(base) <= 0 || median(row) <= 0) return ratio;
  ratio.value = median(base) / median(row);
  ratio.runs = static_cast<int>(std::min(base.size(), row.size()));
  if (ratio.runs < kFewestRuns) {
    ratio.low = ratio.value / (1 + kOneRunAllowance);
    ratio.high = ratio.value * (1 + kOneRunAllowance);
    return ratio;
  }
  std::mt19937_64 random(300);
  std::vector<double> ratios;
  for (int i = 0; i < 2000; ++i) {
    const double here = resampled_median(row, random), there = resampled_median(base, random);
    if (here > 0) ratios.push_back(there / here);
  }
  ratio.low = quantile(ratios, 0.025);
  ratio.high = quantile(ratios, 0.975);
  return ratio;
}

Ratio total_ratio(const SummaryRow& base, const SummaryRow& row) {
  std::vector<double> there, here;
  for (const RunStatistics& run : base.runs) there.push_back(run.total_s);
  for (const RunStatistics& run : row.runs) here.push_back(run.total_s);
  return ratio_of(there, here);
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
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", ratio.value, ratio.low, ratio.high);
}

}  // namespace harness
