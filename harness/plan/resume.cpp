#include "harness/plan/resume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/stats/provenance.h"
#include "harness/nightly/night.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

const json* record_of(const std::vector<json>& records, const std::string& row, int64_t repeat) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const json& record) {
    return text_at(record, "/row") == row && number_at(record, "/repeat") == double(repeat);
  });
  return found == records.end() ? nullptr : &*found;
}

bool is_finished(const json& record) {
  const std::string status = text_at(record, "/status");
  return status == "OK" || status == "SKIPPED";
}

// What is known of a record before its row runs: not the device's name and the libraries as loaded.
json known_before(const json& record) {
  json known = {{"device", {{"kind", text_at(record, "/device/kind")}}}};
  for (const char* key : {"machine", "build", "data", "launcher", "set"})
    if (record.contains(key)) known[key] = record[key];
  return known;
}

[[noreturn]] void refuse_environment(const fs::path& run, const json& there, const json& here) {
  std::vector<std::string> parts;
  for (const Difference& one : environment_differences({there}, {here}))
    parts.push_back(fmt::format("{} {} -> {}", one.what, one.a, one.b));
  if (parts.empty()) parts = {environment_key(there) + " -> " + environment_key(here)};
  throw PreparationError(fmt::format(
      "{}: was begun in another environment, and one table must not mix them: {}; start a new run",
      run.string(), fmt::join(parts, "; ")));
}

// Settings that count for the row's identity and differ.
std::string changed_settings(const json& there, const json& here) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : here.items()) {
    const json before = there.value(name, json());
    if (config_hash({{name, before}}) != config_hash({{name, value}}))
      parts.push_back(fmt::format("{} {} -> {}", name, before.dump(), value.dump()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void check_record(const fs::path& run, const std::vector<PlannedRow>& plan, const json& record,
                  const Surroundings& here) {
  const std::string id = text_at(record, "/row");
  if (record.contains("pair"))
    throw PreparationError(fmt::format("{}: one side of an experiment of ab; run ab again", run.string()));
  const auto planned =
      std::find_if(plan.begin(), plan.end(), [&](const PlannedRow& one) { return one.row.id == id; });
  if (planned == plan.end())
    throw PreparationError(
        fmt::format("{}: has row {}, which its matrix no longer selects; start a new run", run.string(), id));
  const json there = known_before(record), now = here(planned->row);
  if (environment_key(there) != environment_key(now)) refuse_environment(run, there, now);
  const json config = to_json(planned->row);
  if (config_hash(record.at("config")) != config_hash(config))
    throw PreparationError(
        fmt::format("{}: row {} ran with other settings, and one table must not mix them: {}; "
                    "start a new run",
                    run.string(), id, changed_settings(record.at("config"), config)));
}

}  // namespace

std::vector<RowRun> runs_left(const std::vector<PlannedRow>& plan, const std::vector<RowRun>& runs,
                              const std::vector<json>& records, Again again) {
  std::vector<RowRun> left;
  for (const RowRun& one : runs) {
    const json* record = record_of(records, plan[one.row].row.id, one.repeat);
    if (again == Again::missing ? !record : record && !is_finished(*record)) left.push_back(one);
  }
  return left;
}

void check_same_experiment(const fs::path& run, const std::vector<PlannedRow>& plan,
                           const std::vector<RowRun>& left, const std::vector<json>& records,
                           const Surroundings& here) {
  const auto is_made_again = [&](const json& record) {
    return std::any_of(left.begin(), left.end(), [&](const RowRun& one) {
      return plan[one.row].row.id == text_at(record, "/row") &&
             double(one.repeat) == number_at(record, "/repeat");
    });
  };
  for (const json& record : records)
    if (!is_made_again(record)) check_record(run, plan, record, here);
}

void check_same_environment(const fs::path& run, const std::vector<json>& records, const json& record) {
  if (text_at(record, "/status") != "OK") return;  // it may have failed before the device said its name
  for (const json& there : records)
    if (text_at(there, "/status") == "OK" &&
        text_at(there, "/data/fingerprint") == text_at(record, "/data/fingerprint") &&
        environment_key(there) != environment_key(record))
      refuse_environment(run, there, record);
}

RunLock::RunLock(const fs::path& run)
    : descriptor_(::open((run / "records.jsonl").c_str(), O_RDWR | O_CLOEXEC)) {
  // Where a file system has no locks there is only the user's care.
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw PreparationError(run.string() + ": another run_matrix is still writing this run; wait for its end");
  }
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace harness
