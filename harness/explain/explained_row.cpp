#include "harness/explain/explained_row.h"

#include <algorithm>

#include "harness/base/say.h"
#include "harness/base/stopwatch.h"
#include "harness/config/nearest.h"
#include "harness/plan/prediction.h"
#include "harness/report/summary/changes.h"

namespace harness {

constexpr int64_t kMostFailures = 2;  // in a row; then a change is left out
constexpr int64_t kFewestBatches = 8;

// With those that the named ones are compared with.
static std::set<std::string> with_partners(const std::vector<std::string>& names) {
  std::set<std::string> all;
  std::vector<std::string> left = names;
  while (!left.empty()) {
    const std::string name = left.back();
    left.pop_back();
    const Change* change = find_change(name);
    if (!change || !all.insert(name).second) continue;
    if (*change->against) left.push_back(change->against);
    left.insert(left.end(), change->includes.begin(), change->includes.end());
  }
  return all;
}

WantedChanges::WantedChanges(const std::vector<std::string>& names) : names_(with_partners(names)) {
  std::vector<std::string> known;
  for (const Change& change : changes()) known.push_back(change.name);
  for (const std::string& name : names)
    if (!find_change(name))
      throw ConfigError({"--change " + name}, "no such change", "", "", suggestion(name, known));
}

bool WantedChanges::has(const std::string& change) const {
  if (change == "unchanged") return true;
  if (change == "lone_devices") return has("timed_device");
  if (names_.empty()) return !find_change(change) || !find_change(change)->when_named;
  return names_.count(change) > 0;
}

Step step_of(const Row& row, const ChangedRow& changed, double added_ms) {
  Step step{{changed.row, changed.why_not, {}}, {row.id, changed.row.id, 0, added_ms, std::nullopt}};
  step.planned.row.id = row.id + "-" + changed.row.id;
  if (find_change(changed.row.id)) step.planned.row.title = title_of_change(changed.row.id);
  return step;
}

bool ExplainedRow::run(int64_t blocks, double within_s, bool may_shorten, std::mt19937& random) {
  const base::Stopwatch watch;
  if (!first_block(within_s, may_shorten)) return false;
  for (int64_t block = 1; block < blocks; ++block) {
    std::shuffle(steps_.begin(), steps_.end(), random);
    for (Step& step : steps_) {
      if (watch.s() >= within_s) return true;
      step.of.block = block;
      const bool left_out = step.of.change != "unchanged" && failures_[step.of.change] >= kMostFailures;
      if (!left_out && !run(step)) return false;
    }
  }
  return true;
}

// After the unchanged row: fewer batches where they take long, and how long the block will take.
void ExplainedRow::fit_into(double within_s, bool may_shorten) {
  const Record* unchanged = last_of("unchanged");
  if (!unchanged) return;
  const auto runs = double(std::count_if(steps_.begin(), steps_.end(),
                                         [](const Step& step) { return step.planned.skip_reason.empty(); }));
  const double batch_s = *unchanged->total_s / double(*unchanged->timed_batches);
  const double beside_s =
      std::max(0.0, unchanged->wall_s.value_or(0) - *unchanged->total_s);  // start, warm-up
  int64_t& batches = row_.timed_batches;
  if (may_shorten && batches > kFewestBatches)
    batches =
        int64_t(std::clamp((within_s / runs - beside_s) / batch_s, double(kFewestBatches), double(batches)));
  for (Step& step : steps_)
    step.planned.row.timed_batches = std::min(step.planned.row.timed_batches, batches);
  base::say("      row {}: {:.2g} s a batch, {} batches a slice: a block of all changes takes about {}\n",
            row_.id, batch_s, batches, duration_text(runs * (beside_s + batch_s * double(batches))));
}

// In a fixed order, because later changes follow from the first runs: the length of a burden from the
// unchanged step, timed devices from a calibration.
bool ExplainedRow::first_block(double within_s, bool may_shorten) {
  for (Step& step : steps_) {
    if (!run(step)) return false;
    if (&step == &steps_.front()) fit_into(within_s, may_shorten);
  }
  std::erase_if(steps_, [](const Step& step) {
    return !step.planned.skip_reason.empty() || step.of.change == "lone_devices";
  });
  const Record* unchanged = last_of("unchanged");
  if (!unchanged) return true;
  const double step_ms = *unchanged->total_s * 1e3 / double(*unchanged->timed_batches);
  for (const Burden& burden : burdens_of(row_, step_ms, values_))
    if (!add(burden.row, burden.added_ms)) return false;
  if (row_.device != "cpu" || !wanted_.has("lone_devices")) return true;
  const RowChanges made =
      device_changes(row_, calibration(), batch_divisor_of(row_, execution_.scale()), values_);
  for (const MadeUpDevice& made_up : made.devices) execution_.add_device(made_up.file, made_up.device);
  for (const ChangedRow& changed : made.rows)
    if (!add(changed, 0)) return false;
  return true;
}

// Runs a change that was found after the plan was made, and keeps it for later blocks.
bool ExplainedRow::add(const ChangedRow& changed, double added_ms) {
  if (!wanted_.has(changed.row.id)) return true;
  Step step = step_of(row_, changed, added_ms);
  if (!run(step)) return false;
  if (changed.why_not.empty()) steps_.push_back(std::move(step));
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
