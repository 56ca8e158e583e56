// Analyses a history after a night: its series, their change points, and the lasting changes.
#pragma once
#include <filesystem>
#include <ostream>
#include <vector>

#include "harness/nightly/first_nights.h"

namespace harness {

struct Analysis {
  std::vector<Trend> trends;  // of the whole history; with `changes` only if the last night belongs to it
  std::vector<Alarm> alarms;  // rows that became worse
  std::vector<Alarm> improvements;        // rows that became better, by the same rules
  std::vector<FirstNights> first_nights;  // of rows that are too young for an alarm; points into `trends`
  bool searched = false;                  // some series of the last night was long enough for a search
  bool shortened = false;                 // a series is longer than kNightsLookedAt
};

// Searches for changes of the metric unless every row is too short for an alarm. Margins come from the noise
// in `noise_folder`. `source_dir`: see find_change_points(). Throws std::runtime_error when the search fails.
Analysis analyse(const std::vector<Night>& nights, const Night& last,
                 const std::filesystem::path& noise_folder, const std::filesystem::path& source_dir,
                 std::ostream& warnings, const Metric& metric = seconds());

}  // namespace harness
