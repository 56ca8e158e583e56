// Student's t of one against the scatter of others, and the false discovery rate over many of them.
#include "harness/experiment/outlier.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/inference.h"
#include "harness/stats/statistics.h"

namespace harness {

double Others::error(double members) const { return scale * std::sqrt(1 / members + 1 / double(count)); }

double Others::p_slower(double distance, double members) const {
  const double both_sides = Mean{distance, error(members), degrees}.p_against(0);
  return distance > 0 ? both_sides / 2 : 1 - both_sides / 2;
}

double Others::reach(double members) const { return Mean{0, error(members), degrees}.reach(); }

Others known_good(const std::vector<double>& logarithms) {
  return {mean(logarithms), std::max(std::sqrt(variance(logarithms)), kLeastScatter),
          double(logarithms.size() - 1), logarithms.size()};
}

Others mostly_good(const std::vector<double>& logarithms) {
  return {median(logarithms), std::max(robust_deviation(logarithms), kLeastScatter),
          0.3675 * double(logarithms.size() - 1), logarithms.size()};
}

double largest_discovery(std::vector<double> p, double share) {
  std::ranges::sort(p);
  double largest = -1;
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] <= share * double(i + 1) / double(p.size())) largest = p[i];
  return largest;
}

}  // namespace harness
