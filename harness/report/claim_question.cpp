// Answers a question: checks for missing rows, then for emulated hardware, then the question's own needs.
#include "harness/report/claim_question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/article_columns.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

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
    if (is_device_file(setting) && question.answer_from == AnswerFrom::device_file)
      settings.push_back(device_file_text(row, setting));
    else if (!is_device_setting(setting) ||
             (is_core_rate(setting) && question.answer_from == AnswerFrom::core_rate))
      settings.push_back(one_line(setting));
  for (const char* field :
       {"read_rate", "read_latency_ms", "store_rate_mbit", "store_latency_ms", "host_work_ms"})
    if (const double value = field_number(row.config, field); settings.empty() && value > 0)
      settings.push_back(fmt::format("{}: {:g}", field, value));
  return settings;
}

std::optional<Finding> by_construction(const Question& question, const ClaimRows& rows) {
  for (const std::string& id : rows.ids())
    if (const auto settings = set_by_us(question, rows[id]); !settings.empty())
      return Finding{
          ClaimVerdict::by_construction, "",
          fmt::format("follows from a setting of {}: {}", bracketed(id), fmt::join(settings, "; "))};
  return std::nullopt;
}

// A run that others disturbed says nothing of the row where what they took can't be subtracted.
std::optional<Finding> spoiled(const ClaimRows& rows) {
  for (const std::string& id : rows.ids())
    for (const Record* record : rows[id].records) {
      if (most_changed_clock({record}) >= kSpoiledShare)
        return cannot_be_tested(
            fmt::format("the processor's clock changed by {:.0f} % during {}; run it again on a machine with "
                        "a steady clock",
                        100 * most_changed_clock({record}), bracketed(id)));
      if (const double share = others_share(*record).value_or(0);
          share >= kSpoiledShare && !is_processor_bound(*record))
        return cannot_be_tested(
            fmt::format("others took {:.0f} % of the CPU time during {}; run it again on a quiet machine",
                        100 * share, bracketed(id)));
    }
  return std::nullopt;
}

Finding finding_of(const Question& question, const Summary& summary) {
  if (summary.scale == "smoke")
    return cannot_be_tested("scale smoke only tests the program; its figures mean nothing");
  const ClaimRows rows(summary, question.rows);
  if (const std::string missing = rows.missing(); !missing.empty()) return cannot_be_tested(missing);
  auto constructed = by_construction(question, rows);
  if (constructed && summary.device != "emulated") return *constructed;
  if (const auto finding = spoiled(rows)) return constructed ? *constructed : *finding;
  for (const Need& need : question.needs)
    if (const auto finding = need(rows)) return constructed ? *constructed : *finding;
  const Finding finding = question.judge(rows);
  if (!constructed) return finding;
  constructed->figure = finding.figure;
  if (!finding.figure.empty()) constructed->reason = finding.reason + "; " + constructed->reason;
  return *constructed;
}

std::optional<Finding> unmet(const Question& question, const Summary& planned) {
  if (planned.scale == "smoke") return finding_of(question, planned);
  const ClaimRows rows(planned, question.rows);
  if (const std::string missing = rows.missing(); !missing.empty()) return cannot_be_tested(missing);
  if (auto constructed = by_construction(question, rows)) return constructed;
  if (question.rows.empty() || planned.device == "emulated")  // waits of emulated devices must be measured
    return question.rows.empty() ? std::optional(question.judge(rows)) : std::nullopt;
  for (const Need& need : question.needs)
    if (const auto finding = need(rows)) return finding;
  return std::nullopt;
}

ClaimPart part_of(const Question& question, const Finding& finding) {
  ClaimPart part;
  part.text = question.text;
  part.rows = question.rows;
  part.verdict = finding.verdict;
  part.figure = finding.figure;
  part.reason = finding.reason;
  part.p = finding.p;
  part.lacks_devices = finding.lacks_devices;
  return part;
}

}  // namespace

Finding cannot_be_tested(const std::string& why) { return {ClaimVerdict::cannot_be_tested, "", why}; }
Finding not_measured(const std::string& why) { return {ClaimVerdict::not_measured, "", why}; }

std::string bracketed(const std::string& id) {
  const bool number =
      !id.empty() && std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? "[" + id + "]" : id;
}

ClaimRows::ClaimRows(const Summary& summary, const std::vector<std::string>& ids)
    : summary_(summary), ids_(ids) {
  for (const std::string& id : ids) rows_[id] = article_row(summary, id);
}

std::string ClaimRows::missing() const {
  std::vector<std::string> absent, failed;
  for (const std::string& id : ids_) {
    const SummaryRow* row = rows_.at(id);
    if (!row)
      absent.push_back(bracketed(id));
    else if (!row->ok())
      failed.push_back(fmt::format("{} {}{}{}", bracketed(id), row->status, row->reason.empty() ? "" : ": ",
                                   one_line(row->reason)));
  }
  if (!absent.empty()) failed.push_back(fmt::format("{} did not run", fmt::join(absent, " ")));
  return fmt::format("{}", fmt::join(failed, "; "));
}

ClaimPart answer(const Question& question, const Summary& summary) {
  Finding finding = finding_of(question, summary);
  if (summary.device == "emulated" && !finding.figure.empty()) finding.figure += ", emulated";
  return part_of(question, finding);
}

ClaimPart forecast(const Question& question, const Summary& planned) {
  return part_of(question, unmet(question, planned).value_or(Finding{ClaimVerdict::undecided, "", ""}));
}

}  // namespace harness
