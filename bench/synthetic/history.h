// Generates nightly histories with a given number of nights and rows and with step changes of one row and of
// the machine. For tests and for the micro-benchmark of the trend page.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

struct MadeUp {
  size_t nights = 60, rows = 27;
  size_t row_step = 40, machine_step = 25;  // nights from which row 7 (10 %) and the machine (6 %) are slower
  std::string machine = "AMD EPYC, 2 cores, 24 GiB, cpu";
  unsigned seed = 1;
};

std::string made_up_day(size_t night);
std::vector<harness::Night> made_up_nights(const MadeUp& made);
