// Decides from a row's fields and ceilings what limits it; computes variances, Bartlett's test, and pooled or
// Welch standard errors of sums.
#include "harness/stats/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "harness/experiment/policy/policy.h"

namespace harness {

namespace {

// A ceiling is of a few batches, so the runs' mean is compared.
bool loader_is_near(const RecordList& runs) {
  double loader = 0, compute = 0;
  for (const Record* run : runs) {
    if (!run->ceilings || !run->ceilings->loader_ms || !run->ceilings->compute_ms) return true;
    loader += *run->ceilings->loader_ms;
    compute += *run->ceilings->compute_ms;
  }
  return loader * kLoaderIsFar > compute;
}

}  // namespace

const char* text_of(Family family) {
  constexpr std::array texts = {"device-bound",
                                "rank-bound",
                                "loader-bound",
                                "processor-bound",
                                "storage-bound",
                                "link-bound",
                                "started (timed from the first batch on)"};
  return texts.at(size_t(family));
}

Family family_of(const RecordList& runs) {
  const Record& run = *runs.front();
  const Row& row = run.config;
  if (row.nodes > 1) return Family::link;
  if (row.read_rate > 0 || row.read_latency_ms > 0) return Family::modelled;
  if (run.object_store || cache_state(run) == "cold") return Family::storage;
  if (run.device.kind == "cpu") return Family::processor;
  if (row.storage != "synthetic" && loader_is_near(runs)) return Family::loader;
  if (row.warmup_batches == 0) return Family::started;
  return run.world_size > 1 ? Family::ranks : Family::modelled;
}

namespace {

// The variance of a sum of independent parts, each with its own degrees of freedom.
struct Welch {
  double value = 0, spread = 0;
  bool known = true;

  void add(double variance, double degrees) {
    value += variance;
    spread += degrees > 0 ? variance * variance / degrees : 0;
    known = known && degrees > 0;
  }
  Mean mean(double sum, double degrees_without_spread) const {
    const double degrees = spread > 0 ? value * value / spread : degrees_without_spread;
    return {sum, std::sqrt(value), known ? degrees : 0};
  }
};

}  // namespace

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double sum = 0;
  for (double value : values) sum += (value - middle) * (value - middle);
  return sum / double(values.size() - 1);
}

double bartlett_p(const std::vector<double>& variances, const std::vector<double>& degrees) {
  const double groups = double(variances.size());
  if (groups < 2) return 1;
  double all = 0, pooled = 0, logs = 0, inverse = 0;
  for (size_t i = 0; i < variances.size(); ++i) {
    all += degrees[i];
    pooled += degrees[i] * variances[i];
    logs += degrees[i] * std::log(variances[i]);
    inverse += 1 / degrees[i];
  }
  const double statistic = all * std::log(pooled / all) - logs;
  const double a = (inverse - 1 / all) / (3 * (groups - 1)), below = (groups + 1) / (a * a);
  const double b = below / (1 - a + 2 / below);
  if (statistic >= b) return 0;
  return f_p(std::max(0.0, below * statistic / ((groups - 1) * (b - statistic))), groups - 1, below);
}

Pools::Pools(const std::vector<Runs>& rows) {
  std::map<Family, std::pair<std::vector<double>, std::vector<double>>> repeated;  // variances, degrees
  for (const Runs& row : rows)
    if (row.values.size() > 1) {
      auto& [variances, degrees] = repeated[row.family];
      variances.push_back(std::max(variance(row.values), kLeastScatter * kLeastScatter));
      degrees.push_back(double(row.values.size() - 1));
    }
  for (const auto& [family, groups] : repeated) {
    const auto& [variances, degrees] = groups;
    Pool& pool = pools_[family];
    pool.rows = variances.size();
    pool.degrees = std::accumulate(degrees.begin(), degrees.end(), 0.0);
    pool.variance =
        std::inner_product(variances.begin(), variances.end(), degrees.begin(), 0.0) / pool.degrees;
    pool.equal_p = bartlett_p(variances, degrees);
  }
}

Mean Pools::sum_of(const std::vector<WeightedRuns>& terms) const {
  double sum = 0;
  std::map<Family, double> variances;
  for (const auto& [runs, weight] : terms) {
    sum += weight * mean(runs->values);
    const auto pool = pools_.find(runs->family);
    if (pool == pools_.end() || !pool->second.usable()) continue;
    variances[runs->family] += weight * weight / double(runs->values.size()) *
                               std::max(pool->second.variance, variance(runs->values));
  }
  if (!why_none(terms).empty()) return {sum, 0, 0};
  Welch welch;
  for (const auto& [family, value] : variances) welch.add(value, pools_.at(family).degrees);
  return welch.mean(sum, 0);
}

std::string Pools::why_none(const std::vector<WeightedRuns>& terms) const {
  for (const auto& [runs, weight] : terms) {
    const auto pool = pools_.find(runs->family);
    const double degrees = pool == pools_.end() ? 0 : pool->second.degrees;
    if (degrees < kFewestDegrees || pool->second.rows < 2)
      return fmt::format("the scatter of {} rows takes {:.0f} repeats of two rows to tell, these are {:.0f}",
                         text_of(runs->family), kFewestDegrees, degrees);
    if (!pool->second.usable())
      return fmt::format("the repeats of {} rows scatter unequally (Bartlett's p {:.2g})",
                         text_of(runs->family), pool->second.equal_p);
  }
  return "";
}

Mean sum_of_own(const std::vector<WeightedRuns>& terms) {
  double sum = 0, most = 0;
  Welch welch;
  for (const auto& [runs, weight] : terms) {
    const double n = double(runs->values.size());
    sum += weight * mean(runs->values);
    welch.add(weight * weight * variance(runs->values) / n, n - 1);
    most += n - 1;
  }
  return welch.mean(sum, most);
}

Mean sum_of_few(const std::vector<WeightedRuns>& terms, size_t needed) {
  Mean sum;
  double square = 0;
  size_t fewest = size_t(-1);
  for (const auto& [runs, weight] : terms) {
    sum.value += weight * mean(runs->values);
    square += weight * weight * std::max(variance(runs->values), kLeastScatter * kLeastScatter) /
              double(runs->values.size());
    fewest = std::min(fewest, runs->values.size());
  }
  sum.error = std::sqrt(square);
  sum.degrees = fewest >= needed ? double(fewest - 1) : 0;
  return sum;
}

}  // namespace harness
