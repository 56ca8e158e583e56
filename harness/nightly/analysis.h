// Analyses a history after a night: its series, their change points, and the lasting changes.
#pragma once
#include <filesystem>
#include <ostream>
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

struct Analysis {
  std::vector<Trend> trends;  // of the whole history; with `changes` only if the last night belongs to it
  std::vector<Alarm> alarms;  // rows that became worse
  std::vector<Alarm> improvements;        // rows that became better, by the same rules
  std::vector<FirstNights> first_nights;  // of rows that are too young for an alarm; points into `trends`
  bool searched = false;                  // some series of the last night was long enough for a search
  bool shortened = false;                 // a series is longer than kNightsLookedAt
};

// Searches for changes of the metric unless every row is too short for an alarm. Margins come from the noise
// in `noise_folder`. `source_dir`: see find_changes(). Throws std::runtime_error when the search fails.
Analysis analyse(const std::vector<Night>& nights, const Night& last,
                 const std::filesystem::path& noise_folder, const std::filesystem::path& source_dir,
                 std::ostream& warnings, const Metric& metric = seconds());

}  // namespace harness
