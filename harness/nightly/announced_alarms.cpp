// Keeps the alarms of a history that were announced, so that each is announced once.
#include "harness/nightly/announced_alarms.h"

#include <algorithm>
#include <fstream>

#include "harness/base/json_lines.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool same_change(const Alarm& announced, const Alarm& alarm, const Trend& trend) {
  if (announced.key != alarm.key || (announced.after > announced.before) != (alarm.after > alarm.before))
    return false;
  const size_t first = alarm.index - std::min(alarm.index, kSameChange);
  const size_t last = std::min(alarm.index + kSameChange, trend.nights.size() - 1);
  for (size_t i = first; i <= last; ++i)
    if (trend.nights[i] == announced.since) return true;
  return false;
}

}  // namespace

AnnouncedAlarms::AnnouncedAlarms(std::filesystem::path file, std::ostream& warnings)
    : file_(std::move(file)) {
  std::ifstream input(file_);
  base::read_json_lines(
      input, file_, warnings, "line left out, so this alarm may be reported again",
      [this](const nlohmann::json& line, int) { announced_.push_back(decode<Alarm>(line)); });
}

std::vector<Alarm> AnnouncedAlarms::news(const std::vector<Alarm>& alarms,
                                         const std::vector<Trend>& trends) const {
  std::vector<Alarm> fresh;
  for (const Alarm& alarm : alarms) {
    const auto trend =
        std::find_if(trends.begin(), trends.end(), [&](const Trend& it) { return it.key() == alarm.key; });
    const auto known = [&](const Alarm& announced) { return same_change(announced, alarm, *trend); };
    if (std::none_of(announced_.begin(), announced_.end(), known)) fresh.push_back(alarm);
  }
  return fresh;
}

void AnnouncedAlarms::add(const std::vector<Alarm>& alarms, const std::string& night) {
  for (Alarm alarm : alarms) {
    alarm.told = night;
    append_record(file_, encode(alarm));
    announced_.push_back(std::move(alarm));
  }
}

}  // namespace harness
