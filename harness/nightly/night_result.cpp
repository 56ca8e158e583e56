// Test cases of suite `nights`, and gauges of canaries and regressions.
#include "harness/nightly/night_result.h"

#include <fmt/format.h>

#include <algorithm>

namespace harness {

static TestCase case_of(const Trend& trend, const Analysis& analysis, const std::vector<Alarm>& alarms) {
  using Result = TestCase::Result;
  TestCase it{"nights", trend.scale + "." + trend.device, trend.row + ": as fast as in earlier nights"};
  for (const Alarm& alarm : alarms)
    if (alarm.key == trend.key())
      return {it.suite, it.group, it.name, alarm.canary.empty() ? Result::failed : Result::skipped,
              fmt::format(
                  "{} -> {} since night {}{}", trend.text(alarm.before), trend.text(alarm.after), alarm.since,
                  alarm.canary.empty() ? "; no canary slowed down at the same time"
                                       : "; the machine: canary " + alarm.canary + " slowed down too")};
  if (trend.values.size() < kFewestNights) {
    it.result = Result::skipped;
    it.message = fmt::format("{} of {} nights", trend.values.size(), kFewestNights);
  }
  for (const Alarm& alarm : analysis.alarms)
    if (alarm.key == trend.key()) it.message = "slower since night " + alarm.since + ", reported before";
  return it;
}

void add_night(RunResult& result, const Night& night, const Analysis& analysis,
               const std::vector<Alarm>& alarms) {
  for (const Trend& trend : analysis.trends)
    if (!trend.canary && concerns(trend, night)) result.cases.push_back(case_of(trend, analysis, alarms));
  for (const std::string& fault : night.gpu_faults)
    result.cases.push_back({"nights", "gpu", "GPUs without a fault", TestCase::Result::failed, fault});
  result.gauges.push_back({"run_matrix_gpu_faults",
                           "1",
                           "what the driver told of GPUs that an operator should look at",
                           {{{}, double(night.gpu_faults.size())}}});
  result.gauges.push_back({"run_matrix_regressions",
                           "1",
                           "rows that became slower, which no earlier night has reported",
                           {{{}, double(std::count_if(alarms.begin(), alarms.end(), [](const Alarm& alarm) {
                               return alarm.canary.empty();
                             }))}}});
  Gauge canaries{"run_matrix_canary_seconds", "s",
                 "time of the same fixed work before and after the rows, mean"};
  for (const auto& [name, ms] : night.canaries) canaries.samples.push_back({{{"canary", name}}, ms * 1e-3});
  if (!canaries.samples.empty()) result.gauges.push_back(std::move(canaries));
}

}  // namespace harness
