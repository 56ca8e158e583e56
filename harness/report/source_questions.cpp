// Computes the ratio of the asked figure with its interval, and corrects p for the number of questions.
#include "harness/report/source_questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/comma_list.h"
#include "harness/contract/answer_figures.h"
#include "harness/report/metrics.h"
#include "harness/stats/provenance.h"

namespace harness {
namespace {

// Null if the record lacks it.
nlohmann::json device_setting(const Record& record, const char* name) {
  const nlohmann::json& settings = record.device.settings;
  return settings.is_object() ? settings.value(name, nlohmann::json()) : nlohmann::json();
}

// Mean per batch over ranks and batches; nullopt if the record lacks it.
std::optional<double> figure_of(const Record& record, const RunStatistics& run, const AnswerFigure& figure,
                                const ComparedSeconds& seconds) {
  const std::string name = figure.name;
  if (!figure.phases.empty()) {
    if (run.phases.empty()) return std::nullopt;
    return phases_ms(run, figure.phases);
  }
  if (name == "copying") return record.data.copied_in_s;
  if ((name == "images_per_s" || name == "step_time") && !has_comparable_rate(record)) return std::nullopt;
  if (name == "images_per_s") return run.images_per_second / seconds.share_left(record);
  if (name == "step_time") return 1000 * run.total_s * seconds.share_left(record) / double(run.batches);
  if (name == "memory") {
    const nlohmann::json peak = device_setting(record, "peak_allocated_bytes");
    if (peak.is_number()) return peak.get<double>() / (1 << 20);
    return record.max_rss_bytes ? std::optional(double(*record.max_rss_bytes) / (1 << 20)) : std::nullopt;
  }
  if (name == "other_memory") {
    const nlohmann::json peaks = device_setting(record, "peak_allocated_bytes_by_device");
    if (!peaks.is_array() || peaks.size() < 2) return std::nullopt;
    double most = 0;
    for (size_t device = 1; device < peaks.size(); ++device)
      if (peaks[device].is_number()) most = std::max(most, peaks[device].get<double>());
    return most / (1 << 20);
  }
  if (!record.communication || !record.communication->all_reduced_bytes) return std::nullopt;
  return double(*record.communication->all_reduced_bytes) / double(run.batches);
}

std::string why_no_figures(const Summary& summary, const SummaryRow& row, const SummaryRow* base) {
  if (summary.scale == "smoke") return fmt::format("{}; its figures mean nothing", kSmokeOnlyTests);
  if (!row.ok()) return row.status + ": " + one_line(row.reason);
  if (!base) return fmt::format("its base {} did not run", row.config.base);
  if (!base->ok()) return fmt::format("its base {}: {}: {}", base->id, base->status, one_line(base->reason));
  return "";
}

std::string verdict_of(const Answer& answer) {
  if (!answer.why_not.empty()) return answer.why_not;
  if (!answer.of_row && !answer.of_base) return "not measured on this device";
  if (!answer.of_base) return "the base has none";
  if (answer.more.verdict == Verdict::cannot_be_told) return "-";
  const Ratio& ratio = answer.ratio;
  const std::string figure = "x" + text_of(ratio);
  if (answer.more.runs_missing > 0)
    return figure + (ratio.runs > 1 ? ", range; no verdict" : ", one run; no verdict");
  if (answer.more.decided()) return figure + (answer.more.verdict == Verdict::holds ? ": more" : ": less");
  if (ratio.low <= 1 && ratio.high >= 1) return figure + ": no difference seen";
  return fmt::format("{}: not sure, p {:.2f} among all questions", figure, answer.more.p.value_or(1));
}

std::string with_unit(const std::optional<double>& value, const std::string& unit) {
  return value ? fmt::format("{} {}", four_digits(*value), unit) : "-";
}

}  // namespace

std::vector<Answer> answers_of(const Summary& summary) {
  std::vector<Answer> answers;
  for (const SummaryRow& row : summary.rows) {
    if (row.config.question.empty()) continue;
    const SummaryRow* base = base_of(summary, row);
    Answer answer{row.config.question, row.id, row.config.base, row.config.answer};
    answer.why_not = why_no_figures(summary, row, base);
    if (!answer.why_not.empty()) {
      answers.push_back(answer);
      continue;
    }
    const ComparedSeconds seconds = compared_seconds({&row, base});
    for (const std::string& name : base::split_at_commas(row.config.answer)) {
      const AnswerFigure* figure = find_answer_figure(name);
      if (!figure) continue;  // of a newer version of the suite
      answer.figure = figure->name;
      answer.unit = figure->unit;
      const PerRun per_run = each_run([figure, &seconds](const Record& record, const RunStatistics& run) {
        return figure_of(record, run, *figure, seconds);
      });
      const std::vector<double> here = per_run(row), there = per_run(*base);
      answer.of_row = here.empty() ? std::nullopt : std::optional(median(here));
      answer.of_base = there.empty() ? std::nullopt : std::optional(median(there));
      answer.ratio = ratio_of(summary, per_run, row, *base);
      answer.ratio.undisturbed = seconds.undisturbed() && (name == "images_per_s" || name == "step_time");
      answer.more = judge(answer.ratio, {.low = 1});
      answers.push_back(answer);
    }
  }
  std::vector<Judgement*> family;
  for (Answer& answer : answers) family.push_back(&answer.more);
  correct(family);
  return answers;
}

Grid question_grid(const Summary& summary) {
  Grid grid;
  grid.title = "this matrix's questions";
  grid.columns = {
      {"question", true, false, 44},  {"row", true}, {"base", true}, {"figure", true}, {"row's"}, {"base's"},
      {"row / base", true, false, 34}};
  std::string asked_before;
  bool undisturbed = false;
  for (const Answer& answer : answers_of(summary)) {
    undisturbed = undisturbed || answer.ratio.undisturbed;
    const std::string question = answer.row == asked_before ? "" : one_line(answer.question);
    asked_before = answer.row;
    grid.rows.push_back({question, answer.row, answer.base, answer.figure,
                         with_unit(answer.of_row, answer.unit), with_unit(answer.of_base, answer.unit),
                         verdict_of(answer)});
  }
  if (grid.empty()) return grid;
  std::string meaning;
  for (const AnswerFigure& figure : answer_figures())
    if (std::ranges::any_of(grid.rows, [&](const auto& row) { return row[3] == figure.name; }))
      meaning += fmt::format("{}{}: {}", meaning.empty() ? "" : "; ", figure.name, figure.meaning);
  grid.notes = {meaning + (meaning.empty() ? "" : ". ") +
                    (summary.device == "emulated" ? "Time of the devices" : "Host time") +
                    ", mean over ranks and batches, median over the runs.",
                fmt::format("row / base: with its exact 95 % interval over {} or more runs each; of fewer it "
                            "is marked pooled, or it is a range. {} more, less: Student's p is under {} too, "
                            "by Holm's correction for all questions of the matrix.",
                            kFewestRuns, kPooled, kLevel)};
  if (undisturbed)
    grid.notes.push_back("step_time and images_per_s: without the processor time that others took.");
  if (summary.device == "emulated")
    grid.notes.push_back("Emulated devices: their times follow from the device file; loading is real.");
  return grid;
}

}  // namespace harness
