// Alarms that were told already, so that a change is news in one night only.
#pragma once
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// Between two analyses a change may move by this many nights and is still the same.
inline constexpr size_t kSameChange = 3;

// HISTORY/alarms.jsonl, one line for each alarm that was told.
class ToldAlarms {
 public:
  // Damaged lines are named in `warnings` and left out.
  ToldAlarms(std::filesystem::path file, std::ostream& warnings);

  // Those of `alarms` that no earlier night has told.
  std::vector<Alarm> news(const std::vector<Alarm>& alarms, const std::vector<Trend>& trends) const;
  // Throws std::runtime_error when they can't be kept.
  void add(const std::vector<Alarm>& alarms, const std::string& night);

 private:
  std::filesystem::path file_;
  std::vector<Alarm> told_;
};

}  // namespace harness
