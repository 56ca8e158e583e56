// The nights before a series is long enough to be searched for lasting changes: tonight beside the nights
// before, with the interval that so few nights allow.
#pragma once
#include <string>
#include <vector>

#include "harness/experiment/verdict.h"
#include "harness/nightly/trend.h"

namespace harness {

struct FirstNights {
  const Trend* trend = nullptr;
  Ratio
      ratio;  // tonight / typical night before, by the scatter of nights; a range of nothing before the third
  Judgement
      judgement;  // holds: tonight is worse by the trend's margin or more; of one night, so it needn't last
  size_t before = 0;  // nights
};

// Rows of the last night with fewer than kFewestNights nights; nothing is said of those without one before.
// The logarithms of a row's nights are taken as normal; their scatter is that of all these rows, or the row's
// own where rows scatter unequally (stats/inference.h). Holm's correction is for the number of rows.
std::vector<FirstNights> first_nights(const std::vector<Trend>& trends, const Night& last);

// How many nights are missing until lasting changes are searched, and a line per row that has an interval,
// the largest slow-down first.
std::string first_nights_text(const std::vector<FirstNights>& rows);

}  // namespace harness
