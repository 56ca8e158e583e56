// Analyses a history after a night: its series, their change points, and the lasting changes.
#pragma once
#include <filesystem>
#include <ostream>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

struct Analysis {
  std::vector<Trend> trends;  // of the whole history; with `changes` only if the last night belongs to it
  std::vector<Alarm> alarms;  // rows that became worse
  std::vector<Alarm> improvements;  // rows that became better, by the same rules
  size_t rows = 0;                  // rows of the last night with a figure
  size_t too_short = 0;             // of these, rows with fewer than kFewestNights nights, which can't alarm
  size_t nights_missing = 0;        // until the first of these can alarm
  bool shortened = false;           // a series is longer than kNightsLookedAt
};

// Searches for changes of the metric unless every row is too short for an alarm. Margins come from the noise
// in `noise_folder`. `source_dir`: see find_change_points(). Throws std::runtime_error when the search fails.
Analysis analyse(const std::vector<Night>& nights, const Night& last,
                 const std::filesystem::path& noise_folder, const std::filesystem::path& source_dir,
                 std::ostream& warnings, const Metric& metric = seconds());

}  // namespace harness
