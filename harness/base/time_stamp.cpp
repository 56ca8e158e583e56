// Accepts calendar dates, `now` and `now-7d`, and completes them to the first or last moment of the day.
#include "harness/base/time_stamp.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

namespace base {
namespace {

std::string end_of(const std::string& text, const std::string& open, const char* hour) {
  if (text.empty()) return open;
  if (text == "now") return time_stamp_now();
  if (is_day(text)) return text + hour;
  if (text.rfind("now-", 0) == 0 && text.size() > 5 && text.back() == 'd') {
    const std::string days = text.substr(4, text.size() - 5);
    if (days.size() <= 5 && days.find_first_not_of("0123456789") == std::string::npos)
      return day_before_now(std::stoi(days)) + hour;
  }
  throw std::invalid_argument(
      fmt::format("not a date: `{}`; expected 2026-01-31, now or now-7d, or FROM:TO with two of them", text));
}

}  // namespace

bool is_day(const std::string& text) {
  int year = 0, month = 0, day = 0, end = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 ||
      end != 10)
    return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(unsigned(month)),
                                     std::chrono::day(unsigned(day)))
      .ok();
}

std::string day_before_now(int days) {
  const auto then = std::chrono::system_clock::now() - std::chrono::hours(24) * days;
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

std::string time_stamp_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::pair<std::string, std::string> time_stamps_of(const std::string& range) {
  const size_t colon = range.find(':');
  if (colon == std::string::npos || range.find(':', colon + 1) != std::string::npos)
    throw std::invalid_argument(
        fmt::format("not a range: `{}`; expected FROM:TO, e.g. 2026-01-01:now or now-30d:", range));
  return {end_of(range.substr(0, colon), "", "T00:00:00Z"),
          end_of(range.substr(colon + 1), "~", "T23:59:59Z")};
}

}  // namespace base
