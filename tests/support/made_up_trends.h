// The trends of made-up nights, with their step changes as change points.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/nightly/trend.h"
#include "tests/support/made_up_nights.h"

inline std::vector<harness::Trend> made_up_trends(const std::vector<harness::Night>& nights,
                                                  const MadeUp& made) {
  std::vector<harness::Trend> trends = harness::trends_of(nights);
  for (harness::Trend& trend : trends)
    for (const auto& [night, by] : {std::pair{made.machine_step, 1.06}, std::pair{made.row_step, 1.10}}) {
      const bool machine = by < 1.08;
      const bool odd_row = !trend.canary && std::stoul("0" + trend.row) % 2;
      if (machine ? !(odd_row || trend.row == "gemm_ms") : trend.row != "7") continue;
      for (size_t i = 3; i < trend.nights.size(); ++i)
        if (trend.nights[i] == fmt::format("{}T030000-{}", made_up_day(night), made.seed))
          trend.changes.push_back({i, trend.values[i - 2], trend.values[i - 2] * by, 1e-6});
    }
  for (harness::Trend& trend : trends)
    std::sort(trend.changes.begin(), trend.changes.end(), [](auto& a, auto& b) { return a.index < b.index; });
  return trends;
}
