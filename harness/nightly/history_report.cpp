// Formats the tables; if a run's folder is gone, rebuilds reduced records from the night.
#include "harness/nightly/history_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "harness/base/plain_text.h"
#include "harness/stats/full_size.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kPhasesShown = 4;

std::string or_dash(const std::string& text) { return text.empty() ? "-" : one_line(text); }

std::string phases_text(const NightRow& row) {
  std::vector<std::pair<double, std::string>> phases;
  for (const auto& [phase, ms] : row.phases_ms) phases.push_back({ms, fmt::format("{} {:.2f}", phase, ms)});
  std::sort(phases.rbegin(), phases.rend());
  std::vector<std::string> largest;
  for (size_t i = 0; i < std::min(phases.size(), kPhasesShown); ++i) largest.push_back(phases[i].second);
  return largest.empty() ? "-" : fmt::format("{}", fmt::join(largest, ", "));
}

std::string seconds_text(const NightRow& row) {
  if (!row.ok()) return "-";
  const auto [low, high] = std::ranges::minmax_element(row.totals_s);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", row.median_s(), *low, *high);
}

std::string name_of(const Night& night) {
  return fmt::format("night {} of {}{}", night.id, night.started_at,
                     night.tag.empty() ? "" : ", " + one_line(night.tag));
}

// The known parts of an environment key.
std::string environment_text(const std::string& key) {
  std::vector<std::string> parts = environment_parts(key);
  std::erase(parts, "");
  return one_line(fmt::format("{}", fmt::join(parts, "; ")));
}

Record thin_record(const Night& night, const NightRow& row, int64_t repeat) {
  Record record;
  record.row = row.row;
  record.repeat = repeat;
  record.config_hash = row.config;
  record.scale.name = row.scale;
  record.device.kind = row.device;
  record.machine.host = night.host;
  record.build.revision = night.revision;
  record.started_at = night.started_at;
  restore_environment(record, night.environment);
  // A night doesn't say which repeats failed, and has a failure's status only if all repeats failed.
  const std::vector<double>& seconds = row.compared_seconds();
  const bool ok = repeat < static_cast<int64_t>(seconds.size());
  record.status = ok ? "OK" : row.ok() ? "failed" : row.status;
  if (!ok) return record;
  record.timed_batches = 1;
  record.total_s = seconds[static_cast<size_t>(repeat)];
  for (const auto& [phase, ms] : row.phases_ms) record.samples_ms[phase] = {{ms}};  // one rank, one batch
  return record;
}

// The full records; nullopt if the folder of the night's run is gone or contains another run.
std::optional<Records> full_records(const Night& night, std::ostream& warnings) {
  if (night.run.empty() || !std::filesystem::exists(std::filesystem::path(night.run) / "records.jsonl"))
    return std::nullopt;
  Records records = read_records(night.run, warnings);
  const Night found = night_of(night.id, records);
  if (found.started_at != night.started_at || found.machine != night.machine) return std::nullopt;
  return records;
}

}  // namespace

Grid history_grid(const std::vector<Night>& nights) {
  Grid grid;
  grid.title = base::counted(int64_t(nights.size()), "night");
  grid.columns = {{"night", true}, {"began", true},         {"tag", true},     {"rows OK"},
                  {"", true},      {"machine", true, true}, {"revision", true}};
  for (const Night& night : nights)
    grid.rows.push_back({one_line(night.id), one_line(night.started_at), or_dash(night.tag),
                         fmt::format("{} of {}", night.rows_ok(), night.rows.size()),
                         night.complete ? "" : "cut short", or_dash(night.machine), or_dash(night.revision)});
  return grid;
}

json history_json(const std::vector<Night>& nights) {
  json list = json::array();
  for (const Night& night : nights) {
    const json whole = encode(night);
    json& line = list.emplace_back(json{{"rows", night.rows.size()}, {"ok", night.rows_ok()}});
    for (const char* key : {"id", "started_at", "tag", "machine", "host", "revision", "complete"})
      line[key] = whole.at(key);
  }
  return list;
}

Grid night_grid(const Night& night) {
  Grid grid;
  grid.title = name_of(night) + (night.complete ? "" : ", cut short");
  std::vector<std::string> canaries;
  for (const auto& [name, ms] : night.canaries) canaries.push_back(fmt::format("{} {:.3f}", name, ms));
  grid.above = {environment_text(night.environment),
                "host " + or_dash(night.host) + ", records " + or_dash(night.run),
                canaries.empty() ? "no canaries" : fmt::format("canaries: {}", fmt::join(canaries, ", "))};
  grid.columns = {{"row", true},
                  {"scale", true},
                  {"device", true},
                  {"status", true},
                  {"total s"},
                  {"runs OK"},
                  {"largest phases, ms per batch", true, true}};
  for (const NightRow& row : night.rows)
    grid.rows.push_back({one_line(row.row), row.scale, row.device, row.status, seconds_text(row),
                         fmt::format("{} of {}", row.totals_s.size(), row.repeats), phases_text(row)});
  return grid;
}

Records thin_records(const Night& night) {
  Records records;
  for (const NightRow& row : night.rows)
    for (int64_t repeat = 0; repeat < row.repeats; ++repeat)
      records.push_back(thin_record(night, row, repeat));
  return records;
}

NightComparison compare_nights(const Night& a, const Night& b, const std::filesystem::path& noise_folder,
                               std::ostream& warnings) {
  const Noise noise = read_noise(noise_folder, a.machine, warnings);
  const auto full_a = full_records(a, warnings), full_b = full_records(b, warnings);
  if (full_a && full_b) return {compare(at_full_size(*full_a), at_full_size(*full_b), noise), true};
  return {compare(thin_records(a), thin_records(b), noise), false};
}

Grid night_comparison_grid(const NightComparison& compared, const Night& a, const Night& b) {
  Grid grid = comparison_grid(compared.comparison, name_of(a), name_of(b));
  if (!compared.full)
    grid.above.push_back(
        "From the history's own data, because the full records of a run no longer exist. Of settings it has "
        "only the hash, and it has no cache states. Seconds are those without what others took, where a "
        "night has them.");
  return grid;
}

}  // namespace harness
