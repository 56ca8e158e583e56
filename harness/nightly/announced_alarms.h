// Alarms that were already reported, so that each change is reported only once.
#pragma once
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "harness/nightly/trend.h"

namespace harness {

// HISTORY/alarms.jsonl, one line per reported alarm.
class AnnouncedAlarms {
 public:
  // Leaves out damaged lines, with a warning.
  AnnouncedAlarms(std::filesystem::path file, std::ostream& warnings);

  // The alarms that no earlier night has reported.
  std::vector<Alarm> news(const std::vector<Alarm>& alarms, const std::vector<Trend>& trends) const;
  // Throws std::runtime_error when the file can't be written.
  void add(const std::vector<Alarm>& alarms, const std::string& night);

 private:
  std::filesystem::path file_;
  std::vector<Alarm> announced_;
};

}  // namespace harness
