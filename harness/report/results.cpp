// Scales records to full size, summarises them, and writes each output file in turn; combines sections,
// figures and the records of a run into one page.
#include "harness/report/results.h"

#include <fmt/format.h>

#include <iostream>
#include <sstream>

#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/config/request.h"
#include "harness/report/claim_question.h"
#include "harness/report/explain_text.h"
#include "harness/report/figures.h"
#include "harness/report/first_screen.h"
#include "harness/report/page_file.h"
#include "harness/report/page_sections.h"
#include "harness/report/summary/machine_answer.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The command that repeats the run, from its request.json; empty without such a file.
std::string command_of(const fs::path& run_dir, const fs::path& source_dir) {
  if (!fs::exists(run_dir / "request.json")) return "";
  const json request = base::parse_json_file(run_dir / "request.json");
  return request.is_object() ? run_command("./run_matrix", request, source_dir) : "";
}

}  // namespace

void write_page(const fs::path& run_dir, const Records& records, const std::vector<Summary>& summaries,
                const std::string& left_out, const fs::path& source_dir, std::ostream& console) {
  const std::string run = run_name(run_dir);
  PageFile file;
  file.page["title"] = run;
  for (const auto& [word, meaning] : glossary()) file.page["terms"][word] = word;
  add_drawing_library(file, source_dir, "Figures don't show values under the mouse");
  file.without_script = "the file table.md in the same folder has the tables";
  for (json& section : explain_sections(records)) file.page["sections"].push_back(std::move(section));
  // The sections of a matrix ask what rows do to one another; an explained row's changes are no matrix.
  const bool explained = !file.page["sections"].empty();
  for (const Summary& summary : explained ? std::vector<Summary>() : summaries) {
    const std::string key = fmt::format("{}-{}", summary.scale, summary.device);
    const std::string prefix = summaries.size() > 1 ? key + "-" : "";
    std::vector<std::string> names;
    for (const Figure& figure : figures_of(summary, run, source_dir)) {
      names.push_back(figure.name);
      if (!file.library.empty()) file.specs[prefix + figure.name] = figure.spec;
    }
    if (file.library.empty())  // then the SVG files that an earlier `plot` wrote
      std::erase_if(names, [&](const std::string& name) {
        const std::string suffix = &summary == &summaries.front() ? "" : "-" + key;
        const fs::path picture = run_dir / "plots" / (name + suffix + ".svg");
        if (fs::exists(picture)) file.images[prefix + name] = base64(base::read_file(picture));
        return !fs::exists(picture);
      });
    for (json& section : summary_sections(summary, names, prefix, summaries.size() > 1 ? key : ""))
      file.page["sections"].push_back(std::move(section));
  }
  file.records = base::read_file(run_dir / "records.jsonl");
  json common = common_sections(records, left_out, file.records);
  if (const std::string command = command_of(run_dir, source_dir); !command.empty())
    for (json& section : common)
      if (section["id"] == "environment")
        section["blocks"].push_back({{"facts", json::array({json::array({"run with", command})})}});
  for (json& section : common) file.page["sections"].push_back(std::move(section));
  write_page_file(run_dir / "report.html", std::move(file), source_dir);
  console << "report: " << (run_dir / "report.html").string() << '\n';
}

// The answer of a run of `feed` or `machine`; empty for other runs.
struct AnswerFile {
  std::string name, text;
};
static AnswerFile answer_of(const std::vector<Summary>& summaries) {
  for (const Summary& summary : summaries) {
    if (const auto answer = feed_answer(summary)) return {"feed.txt", feed_text(*answer)};
    if (const auto answer = machine_answer(summary))
      return {"machine.txt", facts_text(machine_facts(*answer))};
  }
  return {};
}

// The answer about a row or job of which one thing at a time was changed, whose table says less than this.
static AnswerFile explanation_in(const Records& records) {
  if (const auto fed = job_feed(pointers_to(records))) return {"feed.txt", facts_text(feed_facts(*fed))};
  return {"explain.txt", explain_text(explanations_of(pointers_to(records)))};
}

// Into the run's folder, unless it is empty. Returns the text.
static std::string written(const fs::path& run, const AnswerFile& answer) {
  if (!answer.text.empty()) write_text(run / answer.name, answer.text);
  return answer.text;
}

std::vector<Summary> summaries_of(const fs::path& run, const Records& records) {
  std::vector<Summary> summaries = summarise(records);
  if (const fs::path claims = run / "claims.yaml"; fs::exists(claims))
    for (Summary& summary : summaries) summary.own = std::make_shared<const OwnParts>(read_own_parts(claims));
  const fs::path machine = run / "machine";
  if (!fs::exists(machine / "records.jsonl")) return summaries;
  std::ostringstream left_out;
  const Records own = read_records(machine, left_out);
  for (const Summary& about : summarise(own))
    if (const auto answer = machine_answer(about))
      for (Summary& summary : summaries) {
        summary.about_machine = machine_sentence(*answer);
        summary.fed = fed_text(*answer);
      }
  return summaries;
}

// The terminal's last lines, because they are the first that are read.
static void say_first_screen(const std::vector<Summary>& summaries, std::ostream& console) {
  for (const Summary& summary : summaries)
    if (const std::string text = first_screen_text(summary); !text.empty()) console << '\n' << text;
}

// `left_out`: null in a run that has just ended, which shows its answer last.
static bool write_all(const fs::path& project, const fs::path& run, const Records& measured, bool figures,
                      const std::string* left_out, std::ostream& console) {
  const Records records = at_full_size(measured);
  const std::vector<Summary> summaries = summaries_of(run, records);
  const std::string explained = written(run, explanation_in(records));
  const std::string warnings = left_out ? *left_out : "";
  std::ostringstream unseen;
  if (!write_report(run, summaries, explained.empty() ? console : unseen,
                    left_out ? Shown::everything : Shown::main_table, warnings))
    return false;
  const std::string answer = written(run, answer_of(summaries));
  if (left_out) console << answer << explained;
  if (figures && explained.empty()) write_figures(run, summaries, project, std::cerr);
  if (base::interrupts() < 2) write_page(run, records, summaries, warnings, project, console);
  say_first_screen(summaries, console);
  if (!left_out) console << answer;
  return true;
}

bool write_results(const fs::path& project, const fs::path& run, const Records& measured,
                   std::ostream& console) {
  return write_all(project, run, measured, true, nullptr, console);
}

bool write_results_of(const std::function<void()>& runs, const fs::path& project, const fs::path& run,
                      const Records& records, std::ostream& console) {
  const bool kept = base::survives([&] {
    runs();
    write_results(project, run, records, console);
  });
  if (!kept) console << answer_of(summarise(records)).text;
  return kept;
}

bool rebuild_results(const fs::path& project, const fs::path& run, bool figures, std::ostream& console) {
  std::ostringstream unread;
  const Records records = read_records(run, unread);
  const std::string left_out = unread.str();
  std::cerr << left_out;
  return write_all(project, run, records, figures, &left_out, console);
}

}  // namespace harness
