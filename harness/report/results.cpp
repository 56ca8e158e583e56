// Scales records to full size, summarises them, and writes each output file in turn.
#include "harness/report/results.h"

#include <iostream>
#include <sstream>

#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/report/claim_question.h"
#include "harness/report/explain_text.h"
#include "harness/report/figures.h"
#include "harness/report/first_screen.h"
#include "harness/report/page.h"
#include "harness/report/summary/machine_answer.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "harness/stats/records.h"

namespace harness {

namespace fs = std::filesystem;

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

static std::string write_answer(const fs::path& run, const std::vector<Summary>& summaries) {
  const AnswerFile answer = answer_of(summaries);
  if (!answer.text.empty()) write_text(run / answer.name, answer.text);
  return answer.text;
}

std::vector<Summary> summaries_of(const fs::path& run, const Records& records) {
  std::vector<Summary> summaries = summarise(records);
  if (const fs::path claims = run / "claims.yaml"; fs::exists(claims))
    for (Summary& summary : summaries)
      summary.own_claims = std::make_shared<const std::vector<Question>>(read_claims(claims, true));
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

// explain.txt of a run of `explain`. Returns its text; empty for other runs.
static std::string write_explain(const fs::path& run, const Records& records) {
  const std::string text = explain_text(explanations_of(pointers_to(records)));
  if (!text.empty()) write_text(run / "explain.txt", text);
  return text;
}

// The terminal's last lines, because they are the first that are read.
static void say_first_screen(const std::vector<Summary>& summaries, std::ostream& console) {
  for (const Summary& summary : summaries)
    if (const std::string text = first_screen_text(summary); !text.empty()) console << '\n' << text;
}

bool write_results(const fs::path& project, const fs::path& run, const Records& measured,
                   std::ostream& console) {
  const Records records = at_full_size(measured);
  const std::vector<Summary> summaries = summaries_of(run, records);
  const bool explained = !write_explain(run, records).empty();
  std::ostringstream unseen;  // the table of an explained row's changes says less than explain.txt
  if (!write_report(run, summaries, explained ? unseen : console)) return false;
  const std::string answer = write_answer(run, summaries);
  if (!explained) write_figures(run, summaries, project, std::cerr);
  if (base::interrupts() < 2) write_page(run, records, summaries, "", project, console);
  say_first_screen(summaries, console);
  console << answer;
  return true;
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
  std::ostringstream left_out, unseen;
  const Records records = at_full_size(read_records(run, left_out));
  std::cerr << left_out.str();
  const std::vector<Summary> summaries = summaries_of(run, records);
  const std::string explained = write_explain(run, records);
  if (!write_report(run, summaries, explained.empty() ? console : unseen, Shown::everything)) return false;
  console << write_answer(run, summaries) << explained;
  if (figures && explained.empty()) write_figures(run, summaries, project, std::cerr);
  write_page(run, records, summaries, left_out.str(), project, console);
  say_first_screen(summaries, console);
  return true;
}

}  // namespace harness
