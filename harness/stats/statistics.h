// Statistics of the timed batches of one run.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/stats/effect.h"

namespace harness {

struct Interval {
  double low = 0, high = 0;
};

struct PhaseStatistics {
  std::string name;
  double mean_ms = 0;    // mean over ranks and batches: the means of all phases add up to the mean step
  double median_ms = 0;  // median over batches of the mean over ranks
  double share = 0;      // share of the mean step, 0-1
};

// A step is the slowest rank's sum of phases in one batch. All values use raw samples; outliers are not
// removed.
struct RunStatistics {
  int64_t batches = 0;
  double total_s = 0;            // from barrier to barrier, as recorded
  double images_per_second = 0;  // global batch x batches / total_s

  bool has_samples = false;  // false without phase clock: all members below are then 0
  double mean_ms = 0, median_ms = 0, p5_ms = 0, p95_ms = 0, p99_ms = 0, max_ms = 0;
  double iqr_share = 0;              // interquartile range / median
  double skew_ms = 0;                // median over batches of slowest - fastest rank
  std::optional<double> startup_ms;  // T0: the first batch; only when the window begins with it
  double rho_1 = 0, tau_int = 1, n_eff = 0;
  int64_t block = 0;                     // block length of the bootstrap
  std::optional<Interval> median_ci_ms;  // 95 %, within this run, not for comparisons; from 60 batches on
  double drift_share = 0;                // median of the last third / median of the first third - 1
  std::optional<Interval> drift_ci;
  bool drifts = false;                  // abs(drift_share) exceeds 2 %, and drift_ci excludes 0
  std::vector<PhaseStatistics> phases;  // in the order of phase_names()
};

// `record`: with status OK, as returned by read_records().
RunStatistics run_statistics(const Record& record);

// What a record's steps and phases are told from: the times of emulated devices, where it has them, else the
// host's.
const Samples& phase_samples(const Record& record);
// Only the phases, without the expensive resampling, in the order of phase_names(); empty without phase
// clock.
std::vector<PhaseStatistics> phase_statistics(const Record& record);

// Linear interpolation between order statistics (type 7 of Hyndman & Fan 1996); 0 without values.
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);
// The standard deviation, told by the median distance from the median, which a few odd values don't move
// (Rousseeuw & Croux 1993). `values` as in median().
double robust_deviation(std::vector<double> values);

// rho(lag) with the biased covariance, which keeps the sequence positive definite.
double autocorrelation(const std::vector<double>& values, size_t lag);

// tau_int = 1 + 2 sum rho_k, summed up to the first M >= 5 tau_int(M) (Madras & Sokal 1988), at least 1.
double integrated_autocorrelation_time(const std::vector<double>& values);

// Mean of the batches of one run. Batches that depend on one another count as n / tau_int independent ones.
Mean mean_of_batches(const std::vector<double>& values);

// 95 % percentile intervals by circular block bootstrap (Politis & Romano 1992), 2,000 resamples, fixed seed:
// of the median of `values`, and of median(second) / median(first) - 1.
Interval median_interval(const std::vector<double>& values, int64_t block, int resamples = 2000);
Interval shift_interval(const std::vector<double>& first, const std::vector<double>& second, int64_t block,
                        int resamples = 2000);

struct LossFall {
  double from = 0, to = 0;  // means over the first and the last batches
};

// loss: of each batch, at least one.
inline LossFall loss_fall(const std::vector<double>& loss, size_t batches) {
  const size_t some = std::min(batches, loss.size());
  const auto mean = [&](auto first) { return std::accumulate(first, first + some, 0.0) / double(some); };
  return {mean(loss.begin()), mean(loss.end() - std::ptrdiff_t(some))};
}

inline bool fell(const LossFall& loss, double to_share) { return loss.to <= to_share * loss.from; }

}  // namespace harness
