// Answers a question: checks for missing rows, then for emulated hardware, then the question's own needs;
// compares the intervals of figures with limits.
#include "harness/report/claim_question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/metrics.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

std::string number(double value, const std::string& unit) {
  if (unit.empty()) return fmt::format("{:.2f}", value);
  return unit == "%" ? fmt::format("{:.{}f}", 100 * value, 100 * value < 10 ? 1 : 0) : four_digits(value);
}

std::string with_unit(double value, const std::string& unit) {
  return number(value, unit) + (unit.empty() ? "" : " ") + unit;
}

std::string figure_text(const Test& test) {
  const std::string value = with_unit(test.figure.value, test.unit);
  if (test.figure.runs == 1 && !test.figure.pooled) return value;
  return fmt::format("{} ({} to {}){}", value, number(test.figure.low, test.unit),
                     number(test.figure.high, test.unit), test.figure.pooled ? " pooled" : "");
}

std::string limits_text(const Test& test) {
  if (test.limits.high == kNoLimit) return "above " + with_unit(test.limits.low, test.unit);
  if (test.limits.low <= 0) return "below " + with_unit(test.limits.high, test.unit);
  return fmt::format("from {} to {}", number(test.limits.low, test.unit),
                     with_unit(test.limits.high, test.unit));
}

ClaimVerdict in_words(Verdict verdict) {
  constexpr ClaimVerdict kWords[] = {ClaimVerdict::holds, ClaimVerdict::does_not_hold,
                                     ClaimVerdict::undecided, ClaimVerdict::cannot_be_tested};
  return kWords[size_t(verdict)];
}

ClaimRows rows_of(const Question& question, const Summary& summary) {
  ClaimRows rows{summary, {}};
  for (const std::string& id : question.rows) {
    const SummaryRow* row = find_row(summary, id);
    rows.rows[id] = row && !question.own && row->config.identity == "own" ? nullptr : row;
  }
  return rows;
}

// Names rows that did not run or failed; empty if there are none.
std::string missing_of(const Question& question, const ClaimRows& rows) {
  std::vector<std::string> absent, failed;
  for (const std::string& id : question.rows) {
    const SummaryRow* row = rows.rows.at(id);
    if (!row)
      absent.push_back(bracketed(id));
    else if (!row->ok())
      failed.push_back(fmt::format("{} {}{}{}", bracketed(id), row->status, row->reason.empty() ? "" : ": ",
                                   one_line(row->reason)));
  }
  if (!absent.empty()) failed.push_back(fmt::format("{} did not run", fmt::join(absent, " ")));
  return fmt::format("{}", fmt::join(failed, "; "));
}

// `its device file v100-article, calibrated on this row's total`
std::string device_file_text(const SummaryRow& row, const std::string& setting) {
  if (!row.record->emulation) return one_line(setting);
  const EmulatedDevice& device = row.record->emulation->device;
  const auto figures = device.calibrated_on.find(row.id);
  return fmt::format(
      "its device file {}{}", device.name,
      figures == device.calibrated_on.end() ? "" : ", calibrated on this row's " + one_line(figures->second));
}

// Settings that replace hardware, also if the record doesn't list them as emulated.
std::vector<std::string> set_by_us(const Question& question, const SummaryRow& row) {
  std::vector<std::string> settings;
  for (const std::string& setting : row.record->emulated)
    if (is_device_file(setting) && question.by_construction == kDeviceFile)
      settings.push_back(device_file_text(row, setting));
    else if (!is_device_setting(setting) || (is_core_rate(setting) && question.by_construction == kCoreRate))
      settings.push_back(one_line(setting));
  for (const char* field :
       {"read_rate", "read_latency_ms", "store_rate_mbit", "store_latency_ms", "host_work_ms"})
    if (const double value = field_number(row.config, field); settings.empty() && value > 0)
      settings.push_back(fmt::format("{}: {:g}", field, value));
  return settings;
}

std::optional<Finding> by_construction(const Question& question, const ClaimRows& rows) {
  for (const std::string& id : question.rows)
    if (const auto settings = set_by_us(question, rows[id]); !settings.empty())
      return Finding{
          ClaimVerdict::by_construction, "",
          fmt::format("follows from a setting of {}: {}", bracketed(id), fmt::join(settings, "; "))};
  return std::nullopt;
}

// A run that others disturbed says nothing of the row where what they took can't be subtracted.
std::optional<Finding> spoiled(const Question& question, const ClaimRows& rows) {
  for (const std::string& id : question.rows)
    for (const Record* record : rows[id].records)
      if (on_emulated_device(*record))
        continue;  // what would matter there its checks refuse
      else if (most_changed_clock({record}) >= kSpoiledShare ||
               (others_share(*record).value_or(0) >= kSpoiledShare && !is_processor_bound(*record)))
        return cannot_be_tested(fmt::format("{}: {}; run it again on a quiet machine with a steady clock",
                                            bracketed(id), disturbance_text({record})));
  return std::nullopt;
}

// `ran`: else the rows are planned, and what only shows when they run is taken to go well.
Finding finding_of(const Question& question, const Summary& summary, bool ran) {
  if (summary.scale == "smoke")
    return cannot_be_tested(fmt::format("{}; its figures mean nothing", kSmokeOnlyTests));
  const ClaimRows rows = rows_of(question, summary);
  if (const std::string missing = missing_of(question, rows); !missing.empty())
    return cannot_be_tested(missing);
  auto constructed = by_construction(question, rows);
  const bool emulated = summary.device == "emulated";
  if (constructed && !(ran && emulated)) return *constructed;
  const Finding testable{.verdict = ClaimVerdict::undecided};
  if (!ran && emulated && !question.rows.empty()) return testable;  // their waits must be measured
  auto why_not = spoiled(question, rows);
  for (size_t i = 0; !why_not && i < question.needs.size(); ++i) why_not = question.needs[i](rows);
  if (why_not) return constructed ? *constructed : *why_not;
  if (!ran && !question.rows.empty()) return testable;
  const Finding finding = question.judge(rows);
  if (!constructed) return finding;
  constructed->figure = finding.figure;
  if (!finding.figure.empty()) constructed->reason = finding.reason + "; " + constructed->reason;
  return *constructed;
}

}  // namespace

Finding judged(const std::vector<Test>& tests) {
  std::vector<Judgement> judgements;
  for (const Test& test : tests) judgements.push_back(judge(test.figure, test.limits));
  size_t decides = tests.size();
  for (const Verdict verdict :
       {Verdict::cannot_be_told, Verdict::does_not_hold, Verdict::undecided, Verdict::holds})
    for (size_t i = 0; i < tests.size() && decides == tests.size(); ++i)
      if (judgements[i].verdict == verdict) decides = i;
  // Each test may refute by chance: the surest one does, and its p counts for all of them (Bonferroni).
  if (judgements[decides].verdict == Verdict::does_not_hold)
    for (size_t i = 0; i < tests.size(); ++i)
      if (judgements[i].verdict == Verdict::does_not_hold &&
          judgements[i].p.value_or(0) < judgements[decides].p.value_or(0))
        decides = i;
  const Test& test = tests[decides];
  const Judgement& judgement = judgements[decides];
  if (judgement.verdict == Verdict::cannot_be_told)
    return cannot_be_tested(judgement.reason.empty() ? "the records have no times for: " + test.what
                                                     : judgement.reason);
  Finding finding{in_words(judgement.verdict), figure_text(test),
                  fmt::format("{}; holds {}{}{}", test.what, limits_text(test),
                              judgement.reason.empty() ? "" : "; ", judgement.reason),
                  judgement};
  if (judgement.verdict == Verdict::holds)  // all passed, so the least sure counts
    for (const Judgement& one : judgements)
      if (one.p) finding.test.p = std::max(finding.test.p.value_or(0), *one.p);
  if (judgement.verdict == Verdict::does_not_hold && judgement.p)
    finding.test.p =
        std::min(1.0, *judgement.p * double(std::ranges::count_if(
                                         judgements, [](const auto& one) { return one.p.has_value(); })));
  return finding;
}

Finding cannot_be_tested(const std::string& why) { return {ClaimVerdict::cannot_be_tested, "", why}; }

std::string bracketed(const std::string& id) {
  const bool number = !id.empty() && std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
  return number ? "[" + id + "]" : id;
}

ClaimPart answer(const Question& question, const Summary& summary) {
  Finding finding = finding_of(question, summary, true);
  if (summary.device == "emulated" && !finding.figure.empty()) finding.figure += ", emulated";
  return {finding, question.text, question.rows};
}

ClaimPart forecast(const Question& question, const Summary& planned) {
  return {finding_of(question, planned, false), question.text, question.rows};
}

}  // namespace harness
