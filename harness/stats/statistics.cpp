// Statistics of one run: quantiles, dependence between batches, block-bootstrap intervals and drift.
#include "harness/stats/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/stats/inference.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr int64_t fewest_batches_for_an_interval = 60;  // three blocks of 20
constexpr double drift_limit = 0.02;

double quantile_in_place(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[below];
  const double rest = position - static_cast<double>(below);
  if (rest == 0) return low;
  return low + rest * (*std::min_element(values.begin() + below + 1, values.end()) - low);
}

using Random = std::mt19937_64;

// Of a resample of the same length: blocks from random positions, wrapping around at the end.
double median_of_resample(const std::vector<double>& values, int64_t block, Random& random) {
  const size_t count = values.size();
  // A block as long as the run would only rotate it, and all resamples would have the same median.
  block = std::clamp<int64_t>(block, 1, std::max<int64_t>(1, static_cast<int64_t>(count) / 4));
  std::vector<double> sample;
  sample.reserve(count);
  while (sample.size() < count) {
    const size_t start = random() % count;
    for (int64_t i = 0; i < block && sample.size() < count; ++i)
      sample.push_back(values[(start + i) % count]);
  }
  return quantile_in_place(sample, 0.5);
}

template <class Estimate>
Interval bootstrap(int resamples, Estimate estimate) {
  Random random(300);
  std::vector<double> estimates;
  for (int i = 0; i < resamples; ++i) estimates.push_back(estimate(random));
  return {quantile_in_place(estimates, 0.025), quantile_in_place(estimates, 0.975)};
}

std::vector<double> mean_over_ranks(const std::vector<std::vector<double>>& per_rank, size_t batches) {
  std::vector<double> mean(batches, 0);
  for (const std::vector<double>& times : per_rank)
    for (size_t i = 0; i < batches; ++i) mean[i] += times[i] / static_cast<double>(per_rank.size());
  return mean;
}

void describe_dependence(const std::vector<double>& steps, int64_t loader_threads, RunStatistics& result) {
  result.rho_1 = autocorrelation(steps, 1);
  result.tau_int = integrated_autocorrelation_time(steps);
  result.n_eff = static_cast<double>(steps.size()) / result.tau_int;
  // Loader threads deliver in turn, so their number is the expected period.
  const auto from_tau = static_cast<int64_t>(std::ceil(2 * result.tau_int));
  result.block = std::max({int64_t{20}, from_tau, loader_threads});
  const size_t third = steps.size() / 3;
  if (third == 0) return;
  const std::vector<double> first(steps.begin(), steps.begin() + third),
      last(steps.end() - third, steps.end());
  const double before = median(first);
  result.drift_share = before > 0 ? median(last) / before - 1 : 0;
  if (result.batches < fewest_batches_for_an_interval) return;
  result.median_ci_ms = median_interval(steps, result.block);
  result.drift_ci = shift_interval(first, last, result.block);
  const bool excludes_zero = result.drift_ci->low > 0 || result.drift_ci->high < 0;
  result.drifts = std::abs(result.drift_share) > drift_limit && excludes_zero;
}

}  // namespace

double quantile(std::vector<double> values, double share) { return quantile_in_place(values, share); }
double median(std::vector<double> values) { return quantile_in_place(values, 0.5); }

double robust_deviation(std::vector<double> values) {
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return 1.4826 * median(std::move(values));  // of a normal distribution
}

double autocorrelation(const std::vector<double>& values, size_t lag) {
  const double middle = mean(values);
  double covariance = 0, variance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - middle) * (values[i] - middle);
    if (i + lag < values.size()) covariance += (values[i] - middle) * (values[i + lag] - middle);
  }
  return variance > 0 ? covariance / variance : 0;
}

double integrated_autocorrelation_time(const std::vector<double>& values) {
  double tau = 1;
  for (size_t lag = 1; lag < values.size() / 2; ++lag) {
    tau += 2 * autocorrelation(values, lag);
    if (static_cast<double>(lag) >= 5 * tau) break;
  }
  return std::max(1.0, tau);
}

Mean mean_of_batches(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double independent = double(values.size()) / integrated_autocorrelation_time(values);
  return {mean(values), std::sqrt(variance(values) / independent), independent - 1};
}

Interval median_interval(const std::vector<double>& values, int64_t block, int resamples) {
  return bootstrap(resamples, [&](Random& random) { return median_of_resample(values, block, random); });
}

Interval shift_interval(const std::vector<double>& first, const std::vector<double>& second, int64_t block,
                        int resamples) {
  return bootstrap(resamples, [&](Random& random) {
    const double before = median_of_resample(first, block, random);
    const double after = median_of_resample(second, block, random);
    return before > 0 ? after / before - 1 : 0;
  });
}

const Samples& phase_samples(const Record& record) {
  return on_emulated_device(record) && !record.device_ms.empty() ? record.device_ms : record.samples_ms;
}

std::vector<PhaseStatistics> phase_statistics(const Record& record) {
  const Samples& all = phase_samples(record);
  const auto batches = static_cast<size_t>(record.timed_batches.value_or(0));
  std::vector<PhaseStatistics> phases;
  double whole = 0;
  for (const std::string& name : phase_names()) {
    const auto samples = all.find(name);
    if (samples == all.end()) continue;
    std::vector<double> times = mean_over_ranks(samples->second, batches);
    PhaseStatistics phase{name};
    phase.mean_ms = mean(times);
    phase.median_ms = quantile_in_place(times, 0.5);
    whole += phase.mean_ms;
    phases.push_back(phase);
  }
  for (PhaseStatistics& phase : phases) phase.share = whole > 0 ? phase.mean_ms / whole : 0;
  return phases;
}

RunStatistics run_statistics(const Record& record) {
  RunStatistics result;
  result.batches = record.timed_batches.value_or(0);
  result.total_s = record.total_s.value_or(0);
  result.images_per_second =
      double(record.config.batch) * static_cast<double>(result.batches) / result.total_s;
  const Samples& samples = phase_samples(record);
  if (samples.empty()) return result;
  result.has_samples = true;

  const auto batches = static_cast<size_t>(result.batches);
  std::vector<std::vector<double>> per_rank(samples.begin()->second.size(), std::vector<double>(batches, 0));
  for (const auto& [phase, by_rank] : samples)
    for (size_t rank = 0; rank < per_rank.size(); ++rank)
      for (size_t i = 0; i < batches; ++i) per_rank[rank][i] += by_rank[rank][i];
  std::vector<double> steps(batches), skews(batches);
  for (size_t i = 0; i < batches; ++i) {
    double fastest = per_rank[0][i];
    steps[i] = fastest;
    for (const std::vector<double>& rank : per_rank) {
      steps[i] = std::max(steps[i], rank[i]);
      fastest = std::min(fastest, rank[i]);
    }
    skews[i] = steps[i] - fastest;
  }
  result.mean_ms = mean(steps);
  result.median_ms = median(steps);
  result.p5_ms = quantile(steps, 0.05);
  result.p95_ms = quantile(steps, 0.95);
  result.p99_ms = quantile(steps, 0.99);
  result.max_ms = quantile(steps, 1);
  if (result.median_ms > 0)
    result.iqr_share = (quantile(steps, 0.75) - quantile(steps, 0.25)) / result.median_ms;
  result.skew_ms = median(skews);
  if (record.config.window == "0-299") result.startup_ms = steps[0];
  result.phases = phase_statistics(record);
  describe_dependence(steps, record.config.loader_threads, result);
  return result;
}

}  // namespace harness
