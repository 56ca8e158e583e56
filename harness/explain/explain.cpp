// Plans the changes of each selected row, runs them in blocks until the time is up, and prints the answer.
#include "harness/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"
#include "harness/config/prices.h"
#include "harness/config/row_traits.h"
#include "harness/config/selection.h"
#include "harness/explain/explained_row.h"
#include "harness/launch/followers.h"
#include "harness/plan/prediction.h"
#include "harness/plan/resources.h"
#include "harness/report/explain_text.h"
#include "harness/report/results.h"
#include "harness/report/summary/explanation.h"
#include "harness/run/run.h"
#include "harness/stats/full_size.h"

namespace harness {
namespace {

constexpr int64_t kBatches = 60;
constexpr int64_t kWarmUp = 4;  // batches after those that the ring held ready

// As make_plan() does, so that cores are doubled or halved from what the row has. The changed rows keep
// theirs.
void settle_cores(Row& row, const Request& request) {
  give_cores(row, base::process_limits().cores, request);
  row.as_run.push_back("cpus");
}

void shorten(Row& row, const Request& request) {
  if (!sets(request, "timed_batches")) row.timed_batches = std::min(row.timed_batches, kBatches);
  if (!sets(request, "warmup_batches")) row.warmup_batches = batches_ahead(row) + kWarmUp;
  if (!sets(request, "ceiling_batches")) row.ceiling_batches = 0;
}

// The selected rows and, by their ids, what can be changed before anything has run.
struct Plan {
  std::vector<Row> rows;
  std::map<std::string, std::vector<ChangedRow>> changes;
};

// Replaces the selection by the rows of all changes, so that their data is prepared.
Plan plan_of(Selection& selection, const Request& request, const WantedChanges& wanted,
             const AxisValues& values) {
  Plan plan;
  for (Row& row : selection.rows) {
    if (row.validation)
      throw ConfigError({"row " + row.id}, "explain measures speed", "a row without validation",
                        "validation: true", "explain the row of the article with the same precision");
    settle_cores(row, request);
    shorten(row, request);
    const auto device = selection.device_files.find(row.device_file);
    std::vector<ChangedRow> changes =
        changed_rows(row, {values, device == selection.device_files.end() ? nullptr : &device->second,
                           !request.data.empty(), base::process_limits().cores});
    if (row.device == "cpu") changes.push_back({lone_devices(row, values), "", {}});
    // Collectives of a timed device are calibrated from the ranks of made_up.
    const bool calibrates = row.device == "cpu" && wanted.has("lone_devices");
    std::erase_if(changes, [&](const ChangedRow& changed) {
      return !wanted.has(changed.row.id) && !(calibrates && changed.row.id == "made_up");
    });
    plan.rows.push_back(row);
    plan.changes[row.id] = std::move(changes);
  }
  selection.rows.clear();
  for (const Row& row : plan.rows) {
    for (const ChangedRow& changed : plan.changes[row.id]) {
      if (changed.why_not.empty()) selection.rows.push_back(step_of(row, changed).planned.row);
      if (changed.device) selection.device_files[changed.row.device_file] = *changed.device;
    }
  }
  return plan;
}

// The steps of a row's first block, as planned: with what the machine clips, and why some can't run.
std::vector<Step> steps_of(const Row& row, const std::vector<ChangedRow>& changes,
                           const Execution& execution) {
  std::vector<Step> steps;
  for (const ChangedRow& changed : changes) {
    Step step = step_of(row, changed);
    for (const PlannedRow& planned : execution.plan())
      if (planned.row.id == step.planned.row.id) step.planned = planned;
    steps.push_back(std::move(step));
  }
  return steps;
}

bool changed_something(const Records& records) {
  const auto all = explanations_of(pointers_to(records));
  return std::ranges::any_of(all, [](const Explanation& explanation) {
    return std::ranges::any_of(explanation.changes,
                               [](const ExplainedChange& change) { return change.effect.has_value(); });
  });
}

// An invalid run was disturbed, and repeated; it is no failure of the program.
int exit_code(const Records& records) {
  if (base::interrupted()) return base::kInterrupted;
  for (const Record& record : records)
    if (record.status != "OK" && record.status != "SKIPPED" && record.status != "INVALID")
      return base::kRowFailed;
  return changed_something(records) ? int(base::kAllGood) : int(base::kNothingRan);
}

}  // namespace

int run_explain(const Installation& installation, Request request, const ExplainRequest& explain,
                std::ostream& console) {
  refuse_followers(request, "explain");
  if (explain.rows != std::vector<std::string>{"all"}) {
    request.only.clear();
    for (const std::string& row : explain.rows) request.only += (request.only.empty() ? "" : ",") + row;
  }
  std::optional<Prices> prices;
  if (!explain.prices.empty()) prices = read_prices(explain.prices);
  const WantedChanges wanted(explain.changes);
  const int64_t blocks = request.repeats > 0 ? request.repeats : int64_t(kFewestRuns);
  request.repeats = 1;
  const AxisValues values = ask_values(installation);
  Plan plan;
  const auto execution = Execution::prepare(installation, request, values, [&](Selection& selection) {
    plan = plan_of(selection, request, wanted, values);
  });
  if (!execution) return base::kInterrupted;
  fmt::print(std::cerr, "{} {}, {} blocks of one change at a time, at most {} each; records: {}\n",
             plan.rows.size(), plan.rows.size() == 1 ? "row" : "rows", blocks,
             duration_text(explain.within_s), execution->records_file().string());
  bool going = true;
  const auto explain_rows = [&] {
    LiveLine line(0);
    std::mt19937 random(std::random_device{}());
    for (const Row& row : plan.rows) {
      std::vector<Step> steps = steps_of(row, plan.changes.at(row.id), *execution);
      for (Step& step : steps) step.of.prices = prices;
      ExplainedRow explained(*execution, row, std::move(steps), wanted, values, line);
      going = going && explained.run(blocks, explain.within_s, !sets(request, "timed_batches"), random);
    }
  };
  const bool kept = write_results_of(explain_rows, installation.project, execution->folder(),
                                     execution->records(), console);
  const Records records = at_full_size(execution->records());
  console << explain_text(explanations_of(pointers_to(records)));
  if (!going) return base::kInterrupted;
  return kept ? exit_code(execution->records()) : int(base::kRowFailed);
}

}  // namespace harness
