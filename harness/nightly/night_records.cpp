#include "harness/nightly/night_records.h"

#include <filesystem>
#include <stdexcept>

#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

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
  const bool ok = repeat < static_cast<int64_t>(row.totals_s.size());
  record.status = ok ? "OK" : row.ok() ? "failed" : row.status;
  if (!ok) return record;
  record.timed_batches = 1;
  record.total_s = row.totals_s[static_cast<size_t>(repeat)];
  for (const auto& [phase, ms] : row.phases_ms) record.samples_ms[phase] = {{ms}};  // one rank, one batch
  return record;
}

}  // namespace

std::optional<Records> full_records(const Night& night, std::ostream& warnings) {
  if (night.run.empty() || !std::filesystem::exists(std::filesystem::path(night.run) / "records.jsonl"))
    return std::nullopt;
  Records records = read_records(night.run, warnings);
  const Night found = night_of(night.id, records);
  if (found.started_at != night.started_at || found.machine != night.machine) return std::nullopt;
  return records;
}

Records thin_records(const Night& night) {
  Records records;
  for (const NightRow& row : night.rows)
    for (int64_t repeat = 0; repeat < row.repeats; ++repeat)
      records.push_back(thin_record(night, row, repeat));
  return records;
}

}  // namespace harness
