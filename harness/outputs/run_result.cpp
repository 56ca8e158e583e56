// Makes test cases and gauges from a run's summaries.
#include "harness/outputs/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include "harness/report/claims.h"
#include "harness/report/first_screen.h"
#include "harness/report/metrics.h"
#include "harness/report/results.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"

namespace harness {
namespace {

using Result = TestCase::Result;

Result result_of(const std::string& status) {
  return status == "OK"        ? Result::passed
         : status == "SKIPPED" ? Result::skipped
         : status == "INVALID" ? Result::failed
                               : Result::error;
}

// A row of which one repeat failed has a figure, and yet the run ends with exit code 1.
void add_row(std::vector<TestCase>& cases, const SummaryRow& row, const RecordList& runs,
             const std::string& group) {
  TestCase it{"rows", group, row.title.empty() ? row.id : row.id + ": " + row.title, result_of(row.status)};
  it.seconds = row.ok() ? row.total_s : 0;
  for (const Record* run : runs)
    if (run->status != "OK" && (it.result == Result::passed || it.message.empty())) {
      it.result = result_of(run->status);
      it.message = run->status + ": " + run->reason;
    }
  cases.push_back(it);
}

void add_checks(std::vector<TestCase>& cases, const std::string& id, const RecordList& runs,
                const std::string& group) {
  std::map<std::string, TestCase> by_name;
  for (const Record* run : runs)
    for (const RecordCheck& check : run->checks) {
      TestCase& it =
          by_name.try_emplace(check.name, TestCase{"checks", group, id + ": " + check.name}).first->second;
      if (check.ok) continue;
      it.result = Result::failed;
      it.message = check.detail;
    }
  for (auto& [name, it] : by_name) cases.push_back(std::move(it));
}

void add_claim(std::vector<TestCase>& cases, const Claim& claim, const std::string& group) {
  TestCase it{"claims", group,
              fmt::format("{} {}", claim.own ? "claim" : "the article's claim", claim.number)};
  for (const ClaimPart& part : claim.parts) {
    if (&part == &claim.parts.front()) it.name += ": " + part.text;
    it.message += fmt::format("{}{}: {}{}{}", it.message.empty() ? "" : "; ", part.text,
                              text_of(part.verdict), part.figure.empty() ? "" : ", " + part.figure,
                              part.reason.empty() ? "" : " (" + part.reason + ")");
  }
  const bool answered = claim.verdict == ClaimVerdict::holds ||
                        claim.verdict == ClaimVerdict::does_not_hold ||
                        claim.verdict == ClaimVerdict::by_construction;
  it.result = !answered                                                   ? Result::skipped
              : claim.own && claim.verdict == ClaimVerdict::does_not_hold ? Result::failed
                                                                          : Result::passed;
  cases.push_back(it);
}

// total_s is total_seconds, p99_ms is p99_seconds; other units are base units.
Gauge gauge_of(const Metric& metric) {
  std::string name = metric.name;
  const bool of_time = metric.unit == "s" || metric.unit == "ms";
  if (of_time) name = name.substr(0, name.size() - metric.unit.size()) + "seconds";
  return {"run_matrix_row_" + name, of_time ? "s" : "1", metric.description};
}

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels labels_of(const Summary& summary, const SummaryRow& row) {
  return {{"row", row.id}, {"scale", summary.scale}, {"device", summary.device}};
}

std::vector<Gauge> figures_of(const std::vector<Summary>& summaries) {
  std::vector<Gauge> gauges;
  for (const Metric& metric : metrics()) {
    if (!metric.better) continue;
    Gauge gauge = gauge_of(metric);
    for (const Summary& summary : summaries)
      for (const SummaryRow& row : summary.rows) {
        const auto figure = row.ok() ? metric.figure(row) : std::nullopt;
        if (figure && std::isfinite(*figure))
          gauge.samples.push_back({labels_of(summary, row), *figure * (metric.unit == "ms" ? 1e-3 : 1)});
      }
    gauges.push_back(std::move(gauge));
  }
  Gauge phases{"run_matrix_row_phase_seconds", "s", "mean time of a phase per batch"};
  for (const Summary& summary : summaries)
    for (const SummaryRow& row : summary.rows)
      for (const std::string& phase : phase_names())
        if (const double ms = row.ok() ? phases_ms(row.run, {phase}) : 0; ms > 0 && std::isfinite(ms)) {
          Labels labels = labels_of(summary, row);
          labels.push_back({"phase", phase});
          phases.samples.push_back({labels, ms * 1e-3});
        }
  gauges.push_back(std::move(phases));
  return gauges;
}

std::vector<Gauge> counts_of(const std::vector<Summary>& summaries, const std::vector<Claim>& claims) {
  Gauge status{"run_matrix_row_status", "1", "1 for the status that the row ended with"};
  Gauge rows{"run_matrix_rows", "1", "rows that ended with a status"};
  Gauge verdicts{"run_matrix_claims", "1", "claims with a verdict"};
  std::map<std::string, int> by_status = {{"OK", 0}, {"INVALID", 0}, {"SKIPPED", 0}};
  for (const Summary& summary : summaries)
    for (const SummaryRow& row : summary.rows) {
      ++by_status[row.status];
      Labels labels = labels_of(summary, row);
      labels.push_back({"status", row.status});
      status.samples.push_back({labels, 1});
    }
  for (const auto& [name, count] : by_status) rows.samples.push_back({{{"status", name}}, double(count)});
  if (!claims.empty())
    for (int verdict = 0; verdict <= int(ClaimVerdict::not_measured); ++verdict)
      verdicts.samples.push_back({{{"verdict", text_of(ClaimVerdict(verdict))}},
                                  double(std::ranges::count_if(claims, [&](const Claim& claim) {
                                    return claim.verdict == ClaimVerdict(verdict);
                                  }))});
  return {status,
          rows,
          verdicts,
          {"run_matrix_run_timestamp_seconds",
           "s",
           "when these figures were written, since 1970",
           {{{}, double(std::time(nullptr))}}}};
}

std::string markdown_of(const Summary& summary) {
  std::string text;
  if (const FirstScreen screen = first_screen(summary); !screen.empty()) {
    text += "### " + escape_markdown(one_line(screen.headline)) + "\n\n";
    for (const auto& [label, sentence] : screen.numbers)
      text += fmt::format("- **{}**: {}\n", label, escape_markdown(one_line(sentence)));
    text += fmt::format("- **trust**: {}\n", escape_markdown(one_line(screen.trust)));
    for (const auto& [label, sentences] : screen.lists) {
      if (sentences.empty()) continue;
      text += fmt::format("\n**{}**\n\n", label);
      for (const std::string& sentence : sentences)
        text += fmt::format("- {}\n", escape_markdown(one_line(sentence)));
    }
    text += "\n";
  }
  return text + markdown_table(summary) + "\n";
}

}  // namespace

RunResult result_of_run(const std::filesystem::path& run, const Records& measured) {
  const Records records = at_full_size(measured);
  const std::vector<Summary> summaries = summaries_of(run, records);
  RunResult result;
  result.run = run;
  if (!records.empty()) result.host = records.front().machine.host;
  for (const Record& record : records)
    if (result.started_at.empty() || record.started_at < result.started_at)
      result.started_at = record.started_at;
  std::vector<Claim> claims;
  for (const Summary& summary : summaries) {
    const std::string group = summary.scale + "." + summary.device;
    for (const SummaryRow& row : summary.rows) {
      RecordList runs;
      for (const Record& record : records)
        if (record.row == row.id && record.scale.name == summary.scale &&
            record.device.kind == summary.device)
          runs.push_back(&record);
      add_row(result.cases, row, runs, group);
      add_checks(result.cases, row.id, runs, group);
    }
    for (const Claim& claim : claims_of(summary)) {
      add_claim(result.cases, claim, group);
      claims.push_back(claim);
    }
    result.markdown += markdown_of(summary);
  }
  result.gauges = figures_of(summaries);
  for (Gauge& gauge : counts_of(summaries, claims)) result.gauges.push_back(std::move(gauge));
  std::erase_if(result.gauges, [](const Gauge& gauge) { return gauge.samples.empty(); });
  return result;
}

}  // namespace harness
