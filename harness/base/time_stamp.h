// Parses dates from the command line into the time stamps of nights and records (UTC, ISO 8601).
#pragma once
#include <string>
#include <utility>

namespace base {

bool is_day(const std::string& text);  // a valid date, 2026-01-31
std::string day_before_now(int days);  // date in UTC; 0: today
std::string time_stamp_now();          // 2026-01-31T03:00:00Z

// `FROM:TO`, each a date, `now`, `now-7d` or empty (no limit). Returns the first and last time stamp, which
// compare as text. Throws std::invalid_argument for any other form.
std::pair<std::string, std::string> time_stamps_of(const std::string& range);

}  // namespace base
