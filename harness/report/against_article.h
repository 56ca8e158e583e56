// What one may say of a ratio measured here beside the article's, which is of one run and has no spread.
#pragma once
#include <string>

#include "harness/report/summary/ratio.h"

namespace harness {

// The article's point may lie this far outside the interval and still count as reproduced: about twice what
// MLPerf takes for the run-to-run spread of imaging results. Two rows that differ by less are the same.
inline constexpr double kArticleMargin = 0.05;

// `reproduced`: the point lies within the interval, widened by the margin on either side. Else, of a point
// within the margin around 1, which has no direction: `differs`; of others `same direction` or `other
// direction`, both surely above 1 or both below, or not, and `direction unclear` where the interval holds 1.
// `too few runs` of fewer than kFewestRuns, `-` without one of the two figures.
std::string against_article(const Ratio& here, double point);

// For rows that the article calls equal, which are not to be ranked: `same` (the interval lies within the
// margin around 1), `differs` (it lies on one side of 1), `undecided`, or as above.
std::string against_equal(const Ratio& here);

}  // namespace harness
