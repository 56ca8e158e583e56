// Takes medians of recorded durations, which it caches, or estimates from the work per batch.
#include "harness/plan/prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/contract/config_hash.h"
#include "harness/contract/precision_traits.h"
#include "harness/stats/inference.h"
#include "harness/stats/provenance.h"
#include "harness/stats/statistics.h"

namespace harness {

namespace {

using nlohmann::json;

constexpr size_t kNewestRuns = 5;          // a row's median is taken over at most this many runs
constexpr double kStart_s = 2;             // time until the first batch: LibTorch, processes, network
constexpr double kCpuImage_s = 1.5e-3;     // at 64 px and width 16, from an earlier sample run
constexpr double kMorePerDevice = 0.1;     // devices share the cores of a machine; from the same run
constexpr double kGradientBytes = 46.8e6;  // of ResNet18 at width 64, in float32
constexpr double kGpuImage_s = 1.05e-3;    // the article's row 0: 161.0 s for 300 batches of 512

std::string machine_for(const RecordMachine& machine, const std::string& device_kind) {
  Record record;
  record.machine = machine;
  record.device.kind = device_kind;
  return machine_fingerprint(record);
}

std::vector<PastDuration> past_durations_in(const fs::path& records) {
  std::vector<PastDuration> past;
  std::ifstream stream(records);
  std::ostringstream unseen;  // a damaged line predicts nothing, and the run's own report names it
  base::read_json_lines(stream, records, unseen, "line left out", [&](json object, int) {
    const Record record = record_from_json(std::move(object));
    if (!is_ok(record) || !(record.wall_s.value_or(0) > 0)) return;
    past.push_back({record.row, record.scale.name, machine_for(record.machine, record.device.kind),
                    config_hash(to_json(record.config)), *record.wall_s,
                    double(record.config.warmup_batches + record.config.timed_batches)});
  });
  return past;
}

// An entry of durations.json, by run.
struct RunDurations {
  uint64_t bytes = 0;
  std::vector<PastDuration> taken;
  KEYS(RunDurations, REQUIRED(bytes, "of records.jsonl as it was read"), REQUIRED(taken, "of its rows"));
};
using Durations = std::map<std::string, RunDurations>;

Durations kept_durations(const fs::path& file) try {
  Durations kept = decode<Durations>(base::parse_json_file(file));
  for (const auto& [run, durations] : kept)
    for (const PastDuration& one : durations.taken)
      if (!std::isfinite(one.wall_s + one.batches)) throw Violation(run, "finite times", json());
  return kept;
} catch (const Violation&) {  // missing or damaged: the records are read again
  return {};
}

// Errors are ignored: the file only saves time.
void keep(const fs::path& file, const json& durations) {
  try {
    base::write_whole_file(file, durations.dump() + '\n', /*durable=*/false);
  } catch (const std::runtime_error&) {
  }
}

std::vector<std::pair<fs::file_time_type, fs::path>> newest_records(const fs::path& runs) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    const fs::path records = entry.path() / "records.jsonl";
    std::error_code missing;
    const auto time = fs::last_write_time(records, missing);
    if (!missing) found.emplace_back(time, records);
  }
  std::sort(found.rbegin(), found.rend());
  if (found.size() > kRunsRead) found.resize(kRunsRead);
  return found;
}

// A ring sends the gradients nearly twice over each link.
double link_s(const Row& row) {
  if (row.nodes < 2 || row.link_rate_mbit <= 0) return 0;
  const double width = double(row.width) / 64, bytes = kGradientBytes * width * width;
  return 2 * bytes * precision_traits(row.precision).weight_bytes / 4 * 8 / (row.link_rate_mbit * 1e6);
}

double default_batch_s(const Row& row) {
  if (row.device != "cpu") return kGpuImage_s * row.time_scale * double(row.batch) / double(all_devices(row));
  const double side = double(row.image_px) / 64, width = double(row.width) / 16;
  const double replicas = 1 + kMorePerDevice * double(all_devices(row) - 1);
  return kCpuImage_s * double(row.batch) * side * side * width * width * replicas + link_s(row);
}

}  // namespace

std::vector<PastDuration> read_past_durations(const fs::path& runs) {
  const fs::path file = runs / "durations.json";
  Durations kept = kept_durations(file), now;
  bool changed = false;
  std::vector<PastDuration> all;
  for (const auto& [time, records] : newest_records(runs)) {
    std::error_code error;
    const uint64_t bytes = fs::file_size(records, error);
    const std::string run = records.parent_path().filename();
    const auto known = kept.find(run);
    const bool fits = known != kept.end() && known->second.bytes == bytes;
    changed = changed || !fits;
    RunDurations& durations = now[run];
    durations = fits ? std::move(known->second) : RunDurations{bytes, past_durations_in(records)};
    all.insert(all.end(), durations.taken.rbegin(), durations.taken.rend());
  }
  if (changed || now.size() != kept.size()) keep(file, encode(now));
  return all;
}

Prediction predict(const PlannedRow& planned, const Scale& scale, const RecordMachine& machine,
                   const std::vector<PastDuration>& past) {
  const Row& row = planned.row;
  const std::string here = machine_for(machine, row.device), config = config_hash(to_json(row));
  std::vector<double> same, other, per_batch;
  for (const PastDuration& one : past) {
    if (one.scale != scale.name || one.machine != here) continue;
    if (one.batches > 0) per_batch.push_back(one.wall_s / one.batches);
    if (one.row != row.id) continue;
    auto& times = one.config == config ? same : other;
    if (times.size() < kNewestRuns) times.push_back(one.wall_s);
  }
  if (!same.empty()) return {median(same), Prediction::From::earlier_runs};
  const double batches = double(row.warmup_batches + row.timed_batches);
  if (planned.expected_batch_s > 0)
    return {kStart_s + planned.expected_batch_s * (batches + 2 * double(row.ceiling_batches)),
            Prediction::From::estimate};
  if (!other.empty()) return {median(other), Prediction::From::other_settings};
  if (!per_batch.empty()) return {median(per_batch) * batches, Prediction::From::estimate};
  return {kStart_s + default_batch_s(row) * batches, Prediction::From::estimate};
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string describe_predictions(const std::vector<Prediction>& of_rows, double seconds, size_t runs) {
  std::vector<std::string> parts;
  for (const auto& [from, words] : {std::pair(Prediction::From::earlier_runs, "known from earlier runs"),
                                    {Prediction::From::other_settings, "from runs with other settings"},
                                    {Prediction::From::estimate, "estimated"}})
    if (const auto count = std::ranges::count(of_rows, from, &Prediction::from); count > 0)
      parts.push_back(fmt::format("{} {}", count, words));
  const std::string rows = fmt::format("{} row{}", of_rows.size(), of_rows.size() == 1 ? "" : "s");
  return fmt::format("about {} for {} ({})", duration_text(seconds),
                     runs == of_rows.size() ? rows : fmt::format("{} runs of {}", runs, rows),
                     fmt::join(parts, ", "));
}

TimeLeft::TimeLeft(std::vector<Prediction> rows, std::vector<size_t> runs, std::vector<size_t> maybe,
                   double limit_s)
    : rows_(std::move(rows)), runs_(std::move(runs)), maybe_(std::move(maybe)), limit_s_(limit_s) {}

double TimeLeft::run_s(size_t row, double running_s) const {
  if (const auto took = took_.find(row); took != took_.end()) return mean(took->second);
  const Prediction& prediction = rows_[row];
  const auto found = sums_.find(prediction.from);
  Sums sums = found == sums_.end() ? Sums{} : found->second;
  if (running_s > 0 && ended_ < runs_.size() && rows_[runs_[ended_]].from == prediction.from) {
    sums.took_s += running_s;
    sums.predicted_s += rows_[runs_[ended_]].seconds;
  }
  return sums.predicted_s > 0 ? prediction.seconds * sums.took_s / sums.predicted_s : prediction.seconds;
}

void TimeLeft::ended(size_t row, double seconds) {
  if (ended_ < runs_.size())
    ++ended_;
  else if (const auto done = std::ranges::find(maybe_, row); done != maybe_.end())
    maybe_.erase(done);
  if (!(rows_[row].seconds > 0)) return;  // skipped
  took_[row].push_back(seconds);
  sums_[rows_[row].from].took_s += seconds;
  sums_[rows_[row].from].predicted_s += rows_[row].seconds;
}

double TimeLeft::rest_s(double elapsed_s, double running_s) const {
  double end_s = elapsed_s;
  for (size_t i = ended_ + 1; i < runs_.size(); ++i) end_s += run_s(runs_[i], running_s);
  for (size_t i = ended_ < runs_.size() ? 0 : 1; i < maybe_.size(); ++i)  // the first of them is in progress
    if (const double more_s = run_s(maybe_[i], running_s); end_s + more_s <= limit_s_) end_s += more_s;
  return end_s - elapsed_s + kReport_s;
}

}  // namespace harness
