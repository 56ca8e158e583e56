// Whether one of several that should be alike (a rank, a host, hosts of one rack) is slower than the others:
// the one decision of `validate` and `fleet`.
#pragma once
#include <cstddef>
#include <vector>

namespace harness {

// How the others scatter: of logarithms of times.
struct Others {
  double middle = 0, scale = 0, degrees = 0;  // degrees: of freedom with which `scale` is known
  double count = 0;                           // of independent ones that know the middle as well

  // `distance`: of the logarithm of a time from the middle; of a mean over so many `members`.
  // One-sided p of Student's t that one of the others lies as far above; 0.5 with less than one degree.
  double p_slower(double distance, double members = 1) const;
  // Half the width of the 95 % interval in which such a one lies; infinite with less than one degree.
  double reach(double members = 1) const;

 private:
  double error(double members) const;
};

// Of those that are known to be good: mean and standard deviation. `runs`: what was measured together is
// alike (ranks of one run, at one temperature and on one day), so that they count as fewer than they are:
// Kish's design effect, 1 + (members of a run - 1) x the share of the variance that is between runs (by the
// analysis of variance of random runs). Of a single run, its members are taken as independent.
Others known_good(const std::vector<std::vector<double>>& runs);

// Of those most of which are good: median and scaled median absolute deviation. The latter is known as well
// as the standard deviation of 37 % of them would be (its efficiency: Rousseeuw & Croux 1993).
Others mostly_good(const std::vector<double>& logarithms);

// Benjamini & Hochberg 1995: of those whose p is at most the result, `share` is named by chance. Below 0:
// none is to be named.
double largest_discovery(std::vector<double> p, double share);

}  // namespace harness
