// Moments as a person writes them, turned into the text that nights and records carry (UTC, ISO 8601).
#pragma once
#include <string>
#include <utility>

namespace base {

bool is_day(const std::string& text);  // 2026-01-31, a day that exists
std::string day_before_now(int days);  // 0: today
std::string moment_now();              // 2026-01-31T03:00:00Z

// `FROM:TO` of days, `now` and `now-7d`, either side empty for open: the first and last moment, which compare
// as text. Throws std::invalid_argument on anything else.
std::pair<std::string, std::string> moments_of(const std::string& range);

}  // namespace base
