// Student's t of one against the scatter of others, and the false discovery rate over many of them.
#include "harness/experiment/outlier.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/inference.h"
#include "harness/stats/statistics.h"

namespace harness {

double Others::error(double members) const { return scale * std::sqrt(1 / members + 1 / count); }

double Others::p_slower(double distance, double members) const {
  const double both_sides = Mean{distance, error(members), degrees}.p_against(0);
  return distance > 0 ? both_sides / 2 : 1 - both_sides / 2;
}

double Others::reach(double members) const { return Mean{0, error(members), degrees}.reach(); }

Others known_good(const std::vector<std::vector<double>>& runs) {
  std::vector<double> all;
  double within = 0, sizes = 0;  // sums of squares
  for (const std::vector<double>& run : runs) {
    all.insert(all.end(), run.begin(), run.end());
    within += variance(run) * (double(run.size()) - 1);
    sizes += double(run.size() * run.size());
  }
  const double count = double(all.size()), groups = double(runs.size());
  double square = variance(all), independent = count;
  if (groups > 1 && count > groups) {
    const double members = (count - sizes / count) / (groups - 1);
    const double of_ranks = within / (count - groups);
    const double of_means = (square * (count - 1) - within) / (groups - 1);
    const double of_runs = std::max(0.0, (of_means - of_ranks) / members);
    square = of_runs + of_ranks;
    if (square > 0) independent = count / (1 + (members - 1) * of_runs / square);
  }
  return {mean(all), std::max(std::sqrt(square), kLeastScatter), independent - 1, independent};
}

Others mostly_good(const std::vector<double>& logarithms) {
  return {median(logarithms), std::max(robust_deviation(logarithms), kLeastScatter),
          0.3675 * double(logarithms.size() - 1), double(logarithms.size())};
}

double largest_discovery(std::vector<double> p, double share) {
  std::ranges::sort(p);
  double largest = -1;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] <= share * double(i + 1) / double(p.size())) largest = p[i];
  return largest;
}

}  // namespace harness
