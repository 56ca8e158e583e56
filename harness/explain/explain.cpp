#include "harness/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <set>

#include "harness/base/failure_text.h"
#include "harness/base/machine.h"
#include "harness/config/nearest.h"
#include "harness/config/prices.h"
#include "harness/config/row_traits.h"
#include "harness/config/selection.h"
#include "harness/explain/changed_rows.h"
#include "harness/report/explain_text.h"
#include "harness/report/results.h"
#include "harness/report/summary/explanation.h"
#include "harness/run/run.h"

namespace harness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kBatches = 60;
constexpr int64_t kWarmUp = 4;        // batches after those that the ring held ready
constexpr int64_t kMostFailures = 2;  // then a change is left out

std::string id_of(const Row& row, const std::string& change) { return row.id + "-" + change; }

// A run of the explained row, with its place in the record.
struct Step {
  PlannedRow planned;
  RecordIntervention of;
};

// Which changes are asked for.
class Wanted {
 public:
  // Throws ConfigError for an unknown name.
  explicit Wanted(const std::vector<std::string>& names) : names_(names.begin(), names.end()) {
    std::vector<std::string> known;
    for (const Change& change : changes()) known.push_back(change.name);
    for (const std::string& name : names)
      if (!find_change(name))
        throw ConfigError({"--change " + name}, "no such change", "", "", suggestion(name, known));
  }
  bool has(const std::string& change) const {
    if (names_.empty() || change == "unchanged") return true;
    if (change == "one_device") return has("timed_device") || has("faster_device");
    return names_.count(change) > 0;
  }

 private:
  const std::set<std::string> names_;
};

class Explained {
 public:
  Explained(Execution& execution, const Row& row, std::vector<Step> steps, const Wanted& wanted,
            const AxisValues& values, double within_s, LiveLine& line)
      : execution_(execution),
        row_(row),
        wanted_(wanted),
        steps_(std::move(steps)),
        values_(values),
        line_(line),
        deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(within_s))) {}

  // Returns false after Ctrl-C.
  bool run(int64_t blocks, std::mt19937& random) {
    if (!first_block()) return false;
    for (int64_t block = 1; block < blocks; ++block) {
      std::shuffle(steps_.begin(), steps_.end(), random);
      for (Step& step : steps_) {
        if (Clock::now() >= deadline_) return true;
        step.of.block = block;
        if (failures_[step.of.change] < kMostFailures && !run(step)) return false;
      }
    }
    return true;
  }

 private:
  // In a fixed order, because later changes follow from the first runs: the length of a burden from the
  // unchanged step, timed devices from a calibration.
  bool first_block() {
    for (Step& step : steps_)
      if (!run(step)) return false;
    std::erase_if(steps_, [](const Step& step) {
      return !step.planned.skip_reason.empty() || step.of.change == "one_device";
    });
    const Record* unchanged = last_of("unchanged");
    if (!unchanged) return true;
    const double step_ms = *unchanged->total_s * 1e3 / double(*unchanged->timed_batches);
    for (const Burden& burden : burdens_of(row_, step_ms, values_))
      if (!add(burden.row, burden.added_ms)) return false;
    if (row_.device == "cpu" && wanted_.has("one_device")) {
      RowChanges made = device_changes(row_, calibration(), values_);
      for (const MadeUpDevice& made_up : made.devices) execution_.add_device(made_up.file, made_up.device);
      for (const ChangedRow& changed : made.rows)
        if (!add(changed, 0)) return false;
    }
    return true;
  }

  // Runs a change that was found after the plan was made, and keeps it for later blocks.
  bool add(const ChangedRow& changed, double added_ms) {
    if (!wanted_.has(changed.row.id)) return true;
    Step step{{changed.row, changed.why_not, {}}, {row_.id, changed.row.id, 0, added_ms}};
    step.planned.row.id = id_of(row_, changed.row.id);
    step.planned.row.title = title_of_change(changed.row.id);
    if (!run(step)) return false;
    if (changed.why_not.empty()) steps_.push_back(std::move(step));
    return true;
  }

  Records calibration() const {
    Records records;
    for (const char* change : {"one_device", "made_up"})
      if (const Record* record = last_of(change)) records.push_back(*record);
    return records;
  }

  const Record* last_of(const std::string& change) const {
    const Records& records = execution_.records();
    const auto found = std::find_if(records.rbegin(), records.rend(), [&](const Record& record) {
      return is_ok(record) && record.intervention && record.intervention->of == row_.id &&
             record.intervention->change == change;
    });
    return found == records.rend() ? nullptr : &*found;
  }

  // Returns false after Ctrl-C. A disturbed run is repeated once.
  bool run(const Step& step) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (!execution_.run(step.planned, repeats_[step.planned.row.id]++, line_, {.intervention = step.of}))
        return false;
      const std::string& status = execution_.records().back().status;
      if (status == "OK" || status == "SKIPPED") return true;
      if (status != "INVALID") break;
    }
    ++failures_[step.of.change];
    return true;
  }

  Execution& execution_;
  const Row row_;
  const Wanted& wanted_;
  std::vector<Step> steps_;
  const AxisValues& values_;
  LiveLine& line_;
  const Clock::time_point deadline_;
  std::map<std::string, int64_t> repeats_, failures_;
};

// As make_plan() does, so that cores are doubled or halved from what the row has.
void clip_cores(Row& row, const Request& request) {
  const int64_t cores = int64_t(base::available_cpus().size());
  if (launcher_of(request) == "local" && !emulates_cores(row)) row.cpus = std::min(row.cpus, cores);
}

void shorten(Row& row, const Request& request) {
  if (!sets(request, "timed_batches")) row.timed_batches = std::min(row.timed_batches, kBatches);
  if (!sets(request, "warmup_batches")) row.warmup_batches = row.ring_depth + kWarmUp;
  if (!sets(request, "ceiling_batches")) row.ceiling_batches = 0;
}

// The selected rows and, by their ids, what can be changed before anything has run.
struct Plan {
  std::vector<Row> rows;
  std::map<std::string, RowChanges> changes;
};

// Replaces the selection by the rows of all changes, so that their data is prepared.
Plan plan_of(Selection& selection, const Request& request, const Wanted& wanted, const AxisValues& values) {
  Plan plan;
  for (Row& row : selection.rows) {
    if (row.validation)
      throw ConfigError({"row " + row.id}, "explain measures speed", "a row without validation",
                        "validation: true", "explain the row of the article with the same precision");
    clip_cores(row, request);
    shorten(row, request);
    const auto device = selection.device_files.find(row.device_file);
    RowChanges changes = changes_of(row, device == selection.device_files.end() ? nullptr : &device->second,
                                    !request.data.empty(), values);
    if (row.device == "cpu") changes.rows.push_back({one_device(row), ""});
    // Collectives of a timed device are calibrated from the ranks of made_up.
    const bool calibrates = row.device == "cpu" && wanted.has("one_device");
    std::erase_if(changes.rows, [&](const ChangedRow& changed) {
      return !wanted.has(changed.row.id) && !(calibrates && changed.row.id == "made_up");
    });
    plan.rows.push_back(row);
    plan.changes[row.id] = std::move(changes);
  }
  selection.rows.clear();
  for (auto& [id, changes] : plan.changes) {
    for (ChangedRow& changed : changes.rows) {
      Row row = changed.row;
      row.title = title_of_change(row.id);
      row.id = id + "-" + row.id;
      if (changed.why_not.empty()) selection.rows.push_back(row);
    }
    for (const MadeUpDevice& made_up : changes.devices) selection.device_files[made_up.file] = made_up.device;
  }
  return plan;
}

// The steps of a row's first block, as planned: with what the machine clips, and why some can't run.
std::vector<Step> steps_of(const Row& row, const RowChanges& changes, const Execution& execution) {
  std::vector<Step> steps;
  for (const ChangedRow& changed : changes.rows) {
    Step step{{changed.row, changed.why_not, {}}, {row.id, changed.row.id, 0, 0}};
    step.planned.row.id = id_of(row, changed.row.id);
    step.planned.row.title = title_of_change(changed.row.id);
    for (const PlannedRow& planned : execution.plan())
      if (planned.row.id == step.planned.row.id) step.planned = planned;
    steps.push_back(std::move(step));
  }
  return steps;
}

bool changed_something(const Records& records) {
  const auto all = explanations_of(pointers_to(records));
  return std::any_of(all.begin(), all.end(), [](const Explanation& explanation) {
    return std::any_of(explanation.changes.begin(), explanation.changes.end(),
                       [](const ExplainedChange& change) { return change.effect.has_value(); });
  });
}

int exit_code(const Records& records) {
  const int code = exit_code_of(records);
  if (code == base::kInterrupted || code == base::kRowFailed) return code;
  return changed_something(records) ? int(base::kAllGood) : int(base::kNothingRan);
}

}  // namespace

int run_explain(const Installation& installation, Request request, const ExplainRequest& explain,
                std::ostream& console) {
  if (explain.rows != std::vector<std::string>{"all"}) {
    request.only.clear();
    for (const std::string& row : explain.rows) request.only += (request.only.empty() ? "" : ",") + row;
  }
  std::optional<Prices> prices;
  if (!explain.prices.empty()) prices = read_prices(explain.prices);
  const Wanted wanted(explain.changes);
  const int64_t blocks = request.repeats > 0 ? request.repeats : int64_t(kFewestRuns);
  request.repeats = 1;
  const AxisValues values = ask_values(installation);
  Plan plan;
  const auto execution = Execution::prepare(installation, request, values, [&](Selection& selection) {
    plan = plan_of(selection, request, wanted, values);
  });
  if (!execution) return base::kInterrupted;
  fmt::print(std::cerr, "{} {}, {} blocks of one change at a time, at most {:.0f} min each; records: {}\n",
             plan.rows.size(), plan.rows.size() == 1 ? "row" : "rows", blocks, explain.within_s / 60,
             execution->records_file().string());
  bool lost = false, going = true;
  try {
    LiveLine line(0, isatty(STDERR_FILENO));
    std::mt19937 random(std::random_device{}());
    for (const Row& row : plan.rows) {
      const RowChanges& changes = plan.changes.at(row.id);
      std::vector<Step> steps = steps_of(row, changes, *execution);
      for (Step& step : steps) step.of.prices = prices;
      Explained explained(*execution, row, std::move(steps), wanted, values, explain.within_s, line);
      going = going && explained.run(blocks, random);
    }
    write_results(installation.project, execution->folder(), execution->records(), console);
  } catch (const std::exception& error) {  // most likely a full disk: still show what was measured
    fmt::print(std::cerr, "run_matrix: {}\n", base::failure_text(error));
    lost = true;
  }
  console << explain_text(explanations_of(pointers_to(execution->records())));
  const int code = exit_code(execution->records());
  if (!going || code == base::kInterrupted) return base::kInterrupted;
  return lost ? int(base::kRowFailed) : code;
}

}  // namespace harness
