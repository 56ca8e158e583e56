// Runs a matrix from preparation to report.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/base/stopwatch.h"
#include "harness/commands/command_line.h"
#include "harness/config/request.h"
#include "harness/explain/explain.h"
#include "harness/feed/feed.h"
#include "harness/launch/followers.h"
#include "harness/outputs/outputs.h"
#include "harness/report/claim_question.h"
#include "harness/report/results.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "harness/stats/statistics.h"

namespace harness {

// All claims of a run, judged by the records so far.
static std::vector<Claim> claims_of(const Execution& execution) {
  const Records records = at_full_size(execution.records());
  std::vector<Claim> all;
  for (const Summary& summary : summaries_of(execution.folder(), records))
    for (Claim& claim : claims_of(summary)) all.push_back(std::move(claim));
  return all;
}

// The rows of which further runs could decide a claim; nullopt if all are decided. Empty for a matrix without
// claims, where every run makes some ratio surer.
static std::optional<std::set<std::string>> undecided_rows(const std::vector<Claim>& claims) {
  std::set<std::string> rows;
  for (const Claim& claim : claims)
    for (const ClaimPart& part : claim.parts)
      if (part.verdict == ClaimVerdict::undecided) rows.insert(part.rows.begin(), part.rows.end());
  return !claims.empty() && rows.empty() ? std::nullopt : std::optional(rows);
}

// A claim of the matrix itself that doesn't hold is a regression; one of the article is a finding.
static int exit_code_by_claims(const std::vector<Claim>& claims, std::ostream& console) {
  std::vector<int> refuted;
  for (const Claim& claim : claims)
    if (claim.own && claim.verdict == ClaimVerdict::does_not_hold) refuted.push_back(claim.number);
  if (refuted.empty()) return base::kAllGood;
  console << fmt::format("claims of this matrix that do not hold: {}\n", fmt::join(refuted, ", "));
  return base::kRegression;
}

// What a first run adds once each row has been timed on emulated devices: figures of this machine itself, in
// a folder of their own, and every row's slice trained for real while there is time.
static void look_at_machine(const Installation& installation, const Request& request, Execution& execution,
                            const std::function<bool()>& has_time) {
  Request of_machine;
  of_machine.data = request.data;
  of_machine.seed = request.seed;
  of_machine.timeout_s = request.timeout_s;
  of_machine.silence_s = request.silence_s;
  of_machine.labels_from = request.labels_from;
  of_machine.skip_unreadable = request.skip_unreadable;
  of_machine.launcher = "local";
  of_machine.out = execution.folder() / "machine";
  std::ostringstream unseen;
  if (!fs::exists(of_machine.out / "records.jsonl")) try {
      base::say("\nthis machine itself: it reads, decodes and trains a little\n");
      run_machine(installation, of_machine, unseen);
    } catch (const std::runtime_error& error) {  // the run's own rows don't depend on it
      base::say("      {}\n", base::failure_text(error));
    }
  if (base::interrupted()) return;
  base::say("\nwhole slices of the rows, trained for real with a small network\n");
  execution.train_slices(has_time);
}

static int run_and_report(const Installation& installation, const Request& request, const OwnParts& own,
                          Execution& execution, std::ostream& console) {
  Schedule schedule = schedule_of(installation, request, execution);
  if (!own.text.empty()) write_text(execution.folder() / "claims.yaml", own.text);
  const RepeatRules again = execution.repeat_rules();
  console << describe_plan(execution.plan(), execution.scale());
  console << schedule.described << describe(again, execution.plan())
          << "records: " << execution.records_file().string() << std::endl;
  const base::Stopwatch watch;
  const auto has_time = [&] { return watch.s() < again.limit_s; };
  bool lost = false, first_round = is_plain(request) && execution.scale().most_rounds > 1;
  const auto write_so_far = [&] {
    std::ostringstream unseen;
    if (write_results(installation.project, execution.folder(), execution.records(), unseen))
      base::say("      so far: {}\n", (execution.folder() / "report.html").string());
  };
  try {
    run_scheduled(execution, schedule, request.budget_s, again, [&] {
      write_so_far();
      if (std::exchange(first_round, false) && has_time()) {
        look_at_machine(installation, request, execution, has_time);
        write_so_far();
      }
      return undecided_rows(claims_of(execution));
    });
    if (write_results(installation.project, execution.folder(), execution.records(), console))
      show_left_out(execution.folder(), console);
    if (asks_for_outputs(request))
      write_outputs(request, result_of_run(execution.folder(), execution.records()), console);
  } catch (const PreparationError&) {
    throw;
  } catch (const std::exception& error) {  // most likely a full disk: still show the finished rows
    std::cerr << "run_matrix: " << base::failure_text(error) << '\n';
    lost = true;
    const Records records = at_full_size(execution.records());
    for (const Summary& summary : summarise(records)) console << console_table(summary);
  }
  const int code = exit_code_of(execution.records());
  if (lost && code != base::kInterrupted) return base::kRowFailed;
  if (code == base::kNothingRan && launcher_of(request) == "env")
    return base::kAllGood;  // torchrun would show a traceback
  return code == base::kAllGood ? exit_code_by_claims(claims_of(execution), console) : code;
}

// A row that couldn't be changed is no failure of the run.
static int explain_rows(const Installation& installation, const Request& request, const Execution& execution,
                        std::ostream& console) {
  ExplainRequest explain;
  for (const PlannedRow& planned : execution.plan())
    for (const Record& record : execution.records())
      if (record.row == planned.row.id && is_ok(record) && !planned.row.validation) {
        explain.rows.push_back(record.row);
        break;
      }
  if (explain.rows.empty()) return base::kAllGood;
  Request again = request;
  again.out = execution.folder() / "explain";
  again.repeats = 0;
  console << "\nwhat binds these rows; records and report: " << again.out.string() << std::endl;
  const int code = run_explain(installation, again, explain, console);
  return code == base::kNothingRan ? int(base::kAllGood) : code;
}

static int only_plan(const Installation& installation, const Request& request, const AxisValues& values,
                     std::optional<Rerun> rerun, const OwnParts& own, std::ostream& console) {
  return dry_run(installation, request, values, rerun, console, [&](const Records& planned) {
    std::string text;
    for (Summary& summary : summarise(planned)) {
      summary.own = std::make_shared<const OwnParts>(own);
      text += claim_forecast(summary);
    }
    return text;
  });
}

int run_matrix(const Installation& installation, const Request& request, bool then_explain,
               std::ostream& console) {
  if (then_explain) refuse_followers(request, "--explain");
  if (launcher_of(request) == "env" && is_follower() && !request.dry_run)
    return follow(request, installation);
  const AxisValues values = ask_values(installation);
  const OwnParts own = own_parts(request.configs, installation.project);
  if (request.dry_run) return only_plan(installation, request, values, std::nullopt, own, console);
  Request of_matrix = request;
  of_matrix.choose_time_scales = true;
  check_outputs(request);
  const auto execution = Execution::prepare(installation, of_matrix, values);
  if (!execution) return base::kInterrupted;
  const int code = run_and_report(installation, of_matrix, own, *execution, console);
  if (!then_explain || code == base::kInterrupted) return code;
  const int explained = explain_rows(installation, request, *execution, console);
  return explained == base::kAllGood ? code : explained;
}

int continue_matrix(const Installation& installation, const Request& request, Rerun rerun,
                    std::ostream& console) {
  const AxisValues values = ask_values(installation);
  const OwnParts own = own_parts(request.configs, installation.project);
  if (request.dry_run) return only_plan(installation, request, values, rerun, own, console);
  check_outputs(request);
  const auto execution = Execution::continue_in(installation, request, values, rerun);
  if (!execution) return base::kInterrupted;
  if (execution->runs().empty())
    console << request.out.string() << ": nothing is left to run"
            << (rerun == Rerun::failed ? " again: no row failed" : "") << '\n';
  else
    write_request(request.out, request);  // the number of repeats may have grown
  return run_and_report(installation, request, own, *execution, console);
}

}  // namespace harness
