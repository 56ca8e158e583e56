// Compares a ratio measured here with the article's, which comes from one run and has no spread.
#pragma once
#include <string>

#include "harness/report/summary/ratio.h"

namespace harness {

// Compares the interval of `here` with the article's ratio `point`. Returns `reproduced` if the point lies in
// the interval widened by the margin. Otherwise `differs` if the point lies within the margin of 1, so that
// it has no direction; `direction unclear` if the interval contains 1; else `same direction` or `other
// direction`. `too few runs` below kFewestRuns runs, `-` if one of the two figures is missing.
std::string against_article(const Ratio& here, double point);

// For rows that the article calls equal. Returns `same` if the interval lies within the margin of 1,
// `differs` if it lies on one side of 1, otherwise `undecided`; `too few runs` and `-` as above.
std::string against_equal(const Ratio& here);

}  // namespace harness
