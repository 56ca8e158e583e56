// What a history says after a night: its series, where they changed, and which changes have lasted.
#pragma once
#include <filesystem>
#include <ostream>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// Older values of a series are kept and drawn, and no change is looked for among them.
inline constexpr size_t kNightsLookedAt = 500;

struct Analysis {
  std::vector<Trend> trends;  // of the whole history; changes only in those that the last night belongs to
  std::vector<Alarm> alarms;  // rows that got slower
  std::vector<Alarm> improvements;  // rows that got faster, by the same rules
  size_t rows = 0;                  // of the last night, with a figure
  size_t too_short = 0;             // of them: under kFewestNights, so that they can't alarm
  size_t nights_missing = 0;        // until the first of these can
  bool shortened = false;           // some series is longer than kNightsLookedAt
};

// Nothing is looked for while every row is too short for an alarm. Margins come from the noise kept in
// `noise_folder`. Throws std::runtime_error when change points can't be looked for. `source_dir`: see
// find_change_points.
Analysis analyse(const std::vector<Night>& nights, const Night& last,
                 const std::filesystem::path& noise_folder, const std::filesystem::path& source_dir,
                 std::ostream& warnings);

}  // namespace harness
