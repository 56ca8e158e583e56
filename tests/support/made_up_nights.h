// Nightly histories with a given number of nights and rows and with step changes of one row and of the
// machine: normally distributed run times around given levels, with rare failures and outliers.
#pragma once
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

struct MadeUp {
  size_t nights = 60, rows = 27;
  size_t row_step = 40, machine_step = 25;  // nights from which row 7 (10 %) and the machine (6 %) are slower
  std::string machine = "AMD EPYC, 2 cores, 24 GiB, cpu";
  unsigned seed = 1;
};

inline std::string made_up_day(size_t night) {
  return fmt::format("{:04}-{:02}-{:02}", 2012 + night / 336, 1 + night / 28 % 12, 1 + night % 28);
}

inline std::vector<harness::Night> made_up_nights(const MadeUp& made) {
  std::mt19937_64 random(made.seed);
  std::normal_distribution<double> noise(0, 0.007);
  std::vector<harness::Night> nights;
  for (size_t i = 0; i < made.nights; ++i) {
    const double machine = i >= made.machine_step ? 1.06 : 1;
    harness::Night night;
    night.id = fmt::format("{}T030000-{}", made_up_day(i), made.seed);
    night.started_at = made_up_day(i) + "T03:00:00Z";
    night.tag = i % 3 ? "main" : "driver 555";
    night.revision = fmt::format("{:012x}", (i / 3 + 1) * 0x9E3779B97F4Aull);
    night.machine = made.machine;
    night.host = "lab-1";
    for (const char* canary : {"gemm_ms", "memcpy_ms", "decode_ms", "all_reduce_ms"})
      night.canaries[canary] = 3 * (canary[0] == 'g' ? machine : 1) * (1 + noise(random));
    for (size_t row = 0; row < made.rows; ++row) {
      const double slower = row == 7 && i >= made.row_step ? 1.10 : 1;
      harness::NightRow it{std::to_string(row), "rehearsal", "cpu", "OK", "c0ffee", {}, {}, 3};
      if (row == 4 && i % 17 == 16)
        it.status = "HUNG";
      else
        for (int repeat = 0; repeat < 3; ++repeat)
          it.totals_s.push_back((5 + double(row)) * slower * (row % 2 ? machine : 1) * (1 + noise(random)) *
                                (row == 3 && i % 29 == 28 ? 1.9 : 1));
      night.rows.push_back(it);
    }
    nights.push_back(night);
  }
  return nights;
}
