// Counts the rows by status, and names the reason of each that is missing and the size of each change.
#include "harness/nightly/night_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

std::string reason_of(const NightRow& row, const Records& records) {
  for (const Record& record : records)
    if (record.row == row.row && record.scale.name == row.scale && record.device.kind == row.device &&
        record.status != "OK")
      return fmt::format("{}: {}", record.status, one_line(record.reason));
  return row.status;
}

// With the rows with `validation`: their seeds differ, so that nights don't compare them, but they ran.
std::vector<NightRow> rows_that_ran(const Night& night, const Records& records) {
  std::vector<NightRow> rows = night.rows;
  RecordList of_accuracy = pointers_to(records);
  std::erase_if(of_accuracy, [](const Record* record) { return !record->config.validation; });
  for (const auto& [id, runs] : by_row(of_accuracy)) {
    const Record& first = *runs.front();
    NightRow row;
    row.row = id;
    row.scale = first.scale.name;
    row.device = first.device.kind;
    row.status = first.status;
    row.repeats = static_cast<int64_t>(runs.size());
    for (const Record* run : runs)
      if (is_ok(*run)) row.totals_s.push_back(run->total_s.value_or(0));
    rows.push_back(row);
  }
  return rows;
}

std::string change_line(const std::string& word, const Alarm& alarm, const std::vector<Trend>& trends) {
  const auto trend = std::ranges::find_if(trends, [&](const Trend& it) { return it.key() == alarm.key; });
  const Metric& metric = *trend->metric;
  return fmt::format("{}: row {} ({}, {}){} since night {}: {:.3f} {} -> {:.3f} {}, {:+.1f} %", word,
                     alarm.row, trend->scale, trend->device,
                     metric.name == kTotalSeconds ? "" : ": " + metric.name, alarm.since, alarm.before,
                     metric.unit, alarm.after, metric.unit, 100 * (alarm.after / alarm.before - 1));
}

std::string cause_of(const Alarm& alarm, const Analysis& analysis) {
  if (!alarm.canary.empty()) return "the machine: canary " + alarm.canary + " slowed down too";
  const bool measured = std::ranges::any_of(
      analysis.trends, [&](const Trend& trend) { return trend.canary && trend.machine == alarm.machine; });
  return measured ? "software: no canary slowed down at the same time"
                  : "no canary was ever measured here, so that the machine may be the cause";
}

}  // namespace

std::string rows_summary(const Night& night, const Records& records) {
  std::map<std::string, int> by_status;
  std::string reasons;
  for (const NightRow& row : rows_that_ran(night, records)) {
    ++by_status[row.ok() ? "OK" : row.status == "SKIPPED" ? "SKIPPED" : "failed"];
    const auto lost = row.repeats - static_cast<int64_t>(row.totals_s.size());
    if (lost > 0)
      reasons += fmt::format("  {}: {} of {} runs {}\n", row.row, lost, row.repeats, reason_of(row, records));
  }
  std::string corrected;
  for (const NightRow& row : night.rows)
    if (!row.undisturbed_s.empty())
      corrected += fmt::format("  {}: {:.3g} s without what others took, {:.3g} s as measured\n", row.row,
                               row.compared_s(), row.median_s());
  if (!corrected.empty())
    corrected = "others took processor time, so that nights are compared without it:\n" + corrected;
  if (const std::vector<std::string> spoiled = night.spoiled_rows(); !spoiled.empty())
    corrected += fmt::format(
        "others took {:.0f} % or more of the cores of {} row{}, which other nights aren't "
        "compared with: {}\n",
        100 * kSpoiledShare, spoiled.size(), spoiled.size() == 1 ? "" : "s", fmt::join(spoiled, ", "));
  std::vector<std::string> counts;
  for (const char* status : {"OK", "failed", "SKIPPED"})
    if (by_status.count(status)) counts.push_back(fmt::format("{} {}", by_status[status], status));
  std::string text = fmt::format("\nnight {}{}: rows: {}{}\n{}", night.id,
                                 night.tag.empty() ? "" : " (" + night.tag + ")", fmt::join(counts, ", "),
                                 night.complete ? "" : "; cut short: only the finished runs are counted",
                                 reasons + corrected);
  for (const std::string& fault : night.gpu_faults) text += "GPU: " + one_line(fault) + "\n";
  if (by_status["OK"] == 0) text += "NOTHING WAS MEASURED: no row has a figure\n";
  return text;
}

std::string changes_summary(const Analysis& analysis, const std::vector<Alarm>& alarms,
                            const std::vector<Alarm>& improvements, const Metric& metric) {
  std::string text;
  for (const Alarm& alarm : alarms)
    text += fmt::format(
        "{}; {}\n",
        change_line(alarm.canary.empty() ? "REGRESSION" : alarm_word(metric), alarm, analysis.trends),
        cause_of(alarm, analysis));
  for (const Alarm& faster : improvements)
    text += change_line(change_word(metric, false), faster, analysis.trends) +
            (faster.canary.empty() ? "\n" : fmt::format("; canary {} became faster too\n", faster.canary));
  const size_t old =
      analysis.alarms.size() + analysis.improvements.size() - alarms.size() - improvements.size();
  if (text.empty() && analysis.searched)
    text = fmt::format("no new lasting change of a row's {}\n",
                       metric.name == kTotalSeconds ? "speed" : metric.name);
  if (old > 0) text += fmt::format("changes reported in earlier nights: {}\n", old);
  text += first_nights_text(analysis.first_nights);
  if (analysis.shortened)
    text += fmt::format("changes are searched in the last {} nights of each row\n", kNightsLookedAt);
  return text;
}

static TestCase case_of(const Trend& trend, const Night& night, const Analysis& analysis,
                        const std::vector<Alarm>& alarms) {
  using Result = TestCase::Result;
  TestCase it{"nights", trend.scale + "." + trend.device, trend.row + ": as fast as in earlier nights"};
  for (const Alarm& alarm : alarms)
    if (alarm.key == trend.key())
      return {it.suite, it.group, it.name, alarm.canary.empty() ? Result::failed : Result::skipped,
              fmt::format("{} -> {} since night {}; {}", trend.text(alarm.before), trend.text(alarm.after),
                          alarm.since, cause_of(alarm, analysis))};
  if (trend.nights.back() != night.id)
    return {it.suite, it.group, it.name, Result::skipped, "this night has no figure to compare"};
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
    if (!trend.canary && concerns(trend, night))
      result.cases.push_back(case_of(trend, night, analysis, alarms));
  for (const std::string& fault : night.gpu_faults)
    result.cases.push_back({"nights", "gpu", "GPUs without a fault", TestCase::Result::failed, fault});
  result.gauges.push_back({"run_matrix_gpu_faults",
                           "1",
                           "what the driver told of GPUs that an operator should look at",
                           {{{}, double(night.gpu_faults.size())}}});
  result.gauges.push_back({"run_matrix_regressions",
                           "1",
                           "rows that became slower, which no earlier night has reported",
                           {{{}, double(regressions(alarms))}}});
  Gauge canaries{"run_matrix_canary_seconds", "s",
                 "time of the same fixed work before and after the rows, mean"};
  for (const auto& [name, ms] : night.canaries) canaries.samples.push_back({{{"canary", name}}, ms * 1e-3});
  if (!canaries.samples.empty()) result.gauges.push_back(std::move(canaries));
}

}  // namespace harness
