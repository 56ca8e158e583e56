// Histories of nights that never were: as many nights and rows as asked for, with steps of rows and of the
// machine. For tests and for the benchmark of the trend page.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/nightly/trend.h"

struct MadeUp {
  size_t nights = 60, rows = 27;
  size_t row_step = 40, machine_step = 25;  // nights in which row 7, and the machine, slow down
  std::string machine = "AMD EPYC, 2 cores, 24 GiB, cpu";
  unsigned seed = 1;
};

std::string made_up_day(size_t night);
std::vector<harness::Night> made_up_nights(const MadeUp& made);

// The changes that were made, where change_points.h would look for them.
std::vector<harness::Trend> made_up_trends(const std::vector<harness::Night>& nights, const MadeUp& made);
