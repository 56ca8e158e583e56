// Compares settings, seed, device file and environment of the finished rows with the present ones.
#include "harness/plan/resume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/contract/config_hash.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool is_finished(const Record& record) { return is_ok(record) || record.status == "SKIPPED"; }

// The record without what is known only after its row ran: the device's name and the loaded libraries.
Record known_before(Record record) {
  RecordDevice device;
  device.kind = record.device.kind;
  record.device = device;
  record.versions.clear();
  return record;
}

[[noreturn]] void refuse(const fs::path& run, const std::string& why) {
  throw PreparationError(fmt::format("{}: {}", run.string(), why));
}

[[noreturn]] void refuse_environment(const fs::path& run, const Record& there, const Record& here) {
  std::vector<std::string> parts;
  for (const Difference& one : environment_differences({there}, {here}))
    parts.push_back(fmt::format("{} {} -> {}", one.what, one.a, one.b));
  if (parts.empty()) parts = {environment_key(there) + " -> " + environment_key(here)};
  refuse(run, fmt::format("was started in another environment, and one table must not mix them: {}; start a "
                          "new run",
                          fmt::join(parts, "; ")));
}

std::string changed_settings(const Row& there, const Row& here) {
  std::vector<std::string> parts;
  for (const std::string& name : different_settings(there, here))
    parts.push_back(fmt::format("{} {} -> {}", name, field_text(there, name), field_text(here, name)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void check_record(const fs::path& run, const std::vector<PlannedRow>& plan, const Record& record,
                  const Surroundings& here) {
  const std::string id = record.row;
  if (record.pair) refuse(run, "is one side of an ab experiment, which can't be continued; run ab again");
  const auto planned = std::ranges::find_if(plan, [&](const PlannedRow& one) { return one.row.id == id; });
  if (planned == plan.end())
    refuse(run, fmt::format("contains row {}, which its matrix no longer has; start a new run", id));
  const Record there = known_before(record), now = here(planned->row);
  if (!same_environment(there, now)) refuse_environment(run, there, now);
  Row row = planned->row;
  if (record.scale.decoded_images_per_s) row.time_scale = record.config.time_scale;  // chosen, and no setting
  if (config_hash(to_json(record.config)) != config_hash(to_json(row)))
    refuse(run,
           fmt::format("row {} ran with other settings, and one table must not mix them: {}; start a new run",
                       id, changed_settings(record.config, row)));
  const int64_t seed = row.seed + (row.validation ? record.repeat : 0);
  if (record.config.seed != seed)
    refuse(run, fmt::format("row {} ran with seed {}, and would go on with {}: one table must not mix them; "
                            "restore request.json, or start a new run",
                            id, record.config.seed, seed));
  if (emulation_hash(record.emulation) != emulation_hash(now.emulation))
    refuse(run, fmt::format("device file {} of row {} has changed since, and one table must not mix both; "
                            "restore the file, or start a new run",
                            planned->row.device_file, id));
}

}  // namespace

std::vector<Repetition> runs_left(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                                  const Records& records, Rerun rerun) {
  std::vector<Repetition> left;
  if (rerun == Rerun::missing) {
    std::ranges::copy_if(runs, std::back_inserter(left), [&](const Repetition& one) {
      return !find_record(records, plan[one.row].row.id, one.repeat);
    });
    return left;
  }
  for (const Record& record : records)  // also of rows that ran again by themselves
    for (size_t row = 0; row < plan.size() && !is_finished(record); ++row)
      if (plan[row].row.id == record.row) left.push_back({row, record.repeat});
  std::ranges::sort(left, {}, [](const Repetition& one) { return std::pair(one.repeat, one.row); });
  return left;
}

void check_same_experiment(const fs::path& run, const std::vector<PlannedRow>& plan,
                           const std::vector<Repetition>& left, const Records& records,
                           const Surroundings& here) {
  const auto is_made_again = [&](const Record& record) {
    return std::ranges::any_of(left, [&](const Repetition& one) {
      return plan[one.row].row.id == record.row && one.repeat == record.repeat;
    });
  };
  for (const Record& record : records)
    if (!is_made_again(record)) check_record(run, plan, record, here);
}

void check_same_environment(const fs::path& run, const Records& records, const Record& record) {
  if (!is_ok(record)) return;  // a failed record may lack the device's name
  for (const Record& there : records)
    if (is_ok(there) && there.data.fingerprint == record.data.fingerprint && !same_environment(there, record))
      refuse_environment(run, there, record);
}

base::FileLock lock_run(const fs::path& run) {
  // On a file system without locks, locking fails with another error, which is ignored.
  base::FileLock lock = base::FileLock::try_existing(run / "records.jsonl");
  if (lock.another_holds()) refuse(run, "another run_matrix is still writing this run; wait until it ends");
  return lock;
}

}  // namespace harness
