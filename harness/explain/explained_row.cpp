// The design of `explain`: which runs, in which order, and how long.
#include "harness/explain/explained_row.h"

#include <algorithm>

#include "harness/base/say.h"
#include "harness/experiment/intervention.h"
#include "harness/plan/prediction.h"
#include "harness/report/summary/explanation.h"

namespace harness {

constexpr int64_t kMostFailures = 2;  // in a row; then a change is left out
constexpr int64_t kFewestBatches = 4, kSurveyBatches = 3;
constexpr int64_t kShortSlice = 8;  // batches; no survey would make it much shorter

// With those that the named ones are compared with.
static std::set<std::string> with_partners(const std::vector<std::string>& names) {
  std::set<std::string> all;
  std::vector<std::string> left = names;
  while (!left.empty()) {
    const std::string name = left.back();
    left.pop_back();
    const Intervention* change = find_intervention(name);
    if (!change || !all.insert(name).second) continue;
    if (*change->against) left.push_back(change->against);
    left.insert(left.end(), change->includes.begin(), change->includes.end());
  }
  return all;
}

WantedChanges::WantedChanges(const std::vector<std::string>& names) : names_(with_partners(names)) {
  require_changes(names, /*of_job=*/false);
}

bool WantedChanges::has(const std::string& change) const {
  if (change == "unchanged") return true;
  if (change == "lone_devices") return has("timed_device");
  if (names_.empty()) return !find_intervention(change) || !find_intervention(change)->when_named;
  return names_.count(change) > 0;
}

Step step_of(const Row& row, const ChangedRow& changed) {
  Step step{{changed.row, changed.why_not, {}}, {row.id, changed.row.id, 0, changed.added_ms, std::nullopt}};
  step.planned.row.id = row.id + "-" + changed.row.id;
  if (find_intervention(changed.row.id)) step.planned.row.title = title_of_change(changed.row.id);
  return step;
}

static bool is_unchanged(const Step& step) { return step.of.change == "unchanged"; }
static bool is_first(const Step& step) {
  const Intervention* change = find_intervention(step.of.change);
  return is_unchanged(step) || (change && change->first);
}

// A change that only shows a dependence is no cause.
static bool may_be_a_cause(const Step& step) {
  const Intervention* change = find_intervention(step.of.change);
  return is_unchanged(step) || (change && *change->resource);
}

bool ExplainedRow::run(int64_t blocks, double within_s, bool may_shorten, std::mt19937& random) {
  std::stable_partition(steps_.begin(), steps_.end(), is_first);
  if (!first_block(within_s, may_shorten)) return false;
  leave_out_what_gains_nothing();
  for (int64_t block = 1; block < blocks; ++block) {
    std::ranges::shuffle(steps_, random);
    std::stable_partition(steps_.begin(), steps_.end(), may_be_a_cause);
    std::stable_partition(steps_.begin(), steps_.end(), [this](const Step& step) {
      return may_be_a_cause(step) && last_of(step.of.change);
    });
    for (Step& step : steps_) {
      if (watch_.s() >= within_s) return true;
      step.of.block = block;
      const bool left_out = !is_unchanged(step) && failures_[step.of.change] >= kMostFailures;
      if (!left_out && !run(step)) return false;
    }
  }
  return true;
}

// So that the time goes where it decides. What stays is compared with the unchanged row, or with a change
// that stays, too. A change that ran once and lost can't be a cause; all of them count in Holm's correction.
void ExplainedRow::leave_out_what_gains_nothing() {
  const auto explanations = explanations_of(pointers_to(execution_.records()));
  const auto found = std::ranges::find(explanations, row_.id, &Explanation::of);
  if (found == explanations.end()) return;
  const std::set<std::string> slower = changes_without_gain(*found);
  std::vector<std::string> kept;
  for (const ExplainedChange& change : found->changes)
    if (*change.change->resource && change.effect && !slower.count(change.change->name))
      kept.push_back(change.change->name);
  const std::set<std::string> needed = with_partners(kept);
  std::erase_if(steps_, [&](const Step& step) {
    return slower.count(step.of.change) && !needed.count(step.of.change);
  });
}

// Fewer batches where they take long, and how long a block of all changes will take. The survey has no
// warm-up, so that batches which the loader held ready are part of it: its time is an estimate and no figure.
bool ExplainedRow::fit_into(double within_s) {
  Step survey = *std::ranges::find_if(steps_, is_unchanged);
  survey.of.change = "survey";
  survey.planned.row.id = row_.id + "-survey";
  survey.planned.row.title = "a few batches, to choose how many to time";
  survey.planned.row.timed_batches = std::min(kSurveyBatches, row_.timed_batches);
  survey.planned.row.warmup_batches = 0;
  if (!run(survey)) return false;
  const Record* record = last_of("survey");
  if (!record) return true;
  const auto runs = double(
      std::ranges::count_if(steps_, [](const Step& step) { return step.planned.skip_reason.empty(); }));
  const double batch_s = *record->total_s / double(*record->timed_batches);
  const double beside_s =
      std::max(0.0, record->wall_s.value_or(0) - *record->total_s) + batch_s * double(row_.warmup_batches);
  const double wanted = (within_s / 2 / runs - beside_s) / batch_s;
  row_.timed_batches = int64_t(
      std::clamp(wanted, double(std::min(kFewestBatches, row_.timed_batches)), double(row_.timed_batches)));
  for (Step& step : steps_)
    step.planned.row.timed_batches = std::min(step.planned.row.timed_batches, row_.timed_batches);
  base::say("      row {}: {:.2g} s a batch, {} batches a slice: a block of all changes takes up to {}\n",
            row_.id, batch_s, row_.timed_batches,
            duration_text(runs * (beside_s + batch_s * double(row_.timed_batches))));
  return true;
}

// In a fixed order, because later changes follow from the first runs: the length of a burden from the
// unchanged step, timed devices from a calibration. Refused changes take no time.
bool ExplainedRow::first_block(double within_s, bool may_shorten) {
  if (may_shorten && row_.timed_batches > kShortSlice && !fit_into(within_s)) return false;
  for (Step& step : steps_) {
    const Record* unchanged = last_of("unchanged");
    const double run_s = unchanged ? unchanged->wall_s.value_or(0) : 0;
    const bool waits =
        !is_first(step) && step.planned.skip_reason.empty() && watch_.s() + run_s > within_s / 2;
    if (!waits && !run(step)) return false;
  }
  std::erase_if(steps_, [](const Step& step) {
    return !step.planned.skip_reason.empty() || step.of.change == "lone_devices";
  });
  const Record* unchanged = last_of("unchanged");
  if (!unchanged) return true;
  const double step_ms = *unchanged->total_s * 1e3 / double(*unchanged->timed_batches);
  std::vector<ChangedRow> found = burdens_of(row_, step_ms, values_);
  if (row_.device == "cpu" && wanted_.has("lone_devices"))
    std::ranges::move(
        device_changes(row_, calibration(), batch_divisor_of(row_, execution_.scale()), values_),
        std::back_inserter(found));
  for (const ChangedRow& changed : found) {
    if (!wanted_.has(changed.row.id)) continue;
    if (changed.device) execution_.add_device(changed.row.device_file, *changed.device);
    Step step = step_of(row_, changed);
    if (!run(step)) return false;
    if (changed.why_not.empty()) steps_.push_back(std::move(step));
  }
  return true;
}

Records ExplainedRow::calibration() const {
  Records records;
  for (const char* change : {"lone_devices", "made_up"})
    if (const Record* record = last_of(change)) records.push_back(*record);
  return records;
}

const Record* ExplainedRow::last_of(const std::string& change) const {
  const Records& records = execution_.records();
  const auto found = std::find_if(records.rbegin(), records.rend(), [&](const Record& record) {
    return is_ok(record) && record.intervention && record.intervention->of == row_.id &&
           record.intervention->change == change;
  });
  return found == records.rend() ? nullptr : &*found;
}

// Returns false after Ctrl-C. A disturbed run is repeated once.
bool ExplainedRow::run(const Step& step) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!execution_.run(step.planned, repeats_[step.planned.row.id]++, line_, {.intervention = step.of}))
      return false;
    const std::string& status = execution_.records().back().status;
    if (status == "OK" || status == "SKIPPED") {
      failures_[step.of.change] = 0;
      return true;
    }
    if (status != "INVALID") break;
  }
  ++failures_[step.of.change];
  return true;
}

}  // namespace harness
