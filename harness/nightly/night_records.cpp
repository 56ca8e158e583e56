#include "harness/nightly/night_records.h"

#include <filesystem>
#include <stdexcept>

#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {

using nlohmann::json;

namespace {

json thin_record(const Night& night, const NightRow& row, int64_t repeat) {
  json record = {{"schema", 1},
                 {"row", row.row},
                 {"repeat", repeat},
                 {"config", json::object()},
                 {"config_hash", row.config},
                 {"scale", {{"name", row.scale}}},
                 {"device", {{"kind", row.device}}},
                 {"machine", {{"host", night.host}}},
                 {"build", {{"revision", night.revision}}},
                 {"started_at", night.started_at}};
  restore_environment(record, night.environment);
  return record;
}

json samples_of(const NightRow& row) {
  json samples = json::object();
  for (const auto& [phase, ms] : row.phases_ms) samples[phase] = {{ms}};  // one rank, one batch
  return samples;
}

}  // namespace

std::optional<std::vector<json>> full_records(const Night& night, std::ostream& warnings) {
  if (night.run.empty() || !std::filesystem::exists(std::filesystem::path(night.run) / "records.jsonl"))
    return std::nullopt;
  std::vector<json> records = read_records(night.run, warnings);
  const Night found = night_of(night.id, records);
  if (found.started_at != night.started_at || found.machine != night.machine) return std::nullopt;
  return records;
}

std::vector<json> thin_records(const Night& night) {
  std::vector<json> records;
  for (const NightRow& row : night.rows)
    for (int64_t repeat = 0; repeat < row.repeats; ++repeat) {
      json record = thin_record(night, row, repeat);
      const bool ok = repeat < static_cast<int64_t>(row.totals_s.size());
      // Which repeats of a row failed isn't kept, and how only where all did.
      record["status"] = ok ? "OK" : row.ok() ? "failed" : row.status;
      if (ok)
        record.update({{"timed_batches", 1},
                       {"total_s", row.totals_s[static_cast<size_t>(repeat)]},
                       {"samples_ms", samples_of(row)}});
      records.push_back(std::move(record));
    }
  return records;
}

}  // namespace harness
