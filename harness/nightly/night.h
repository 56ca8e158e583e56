// Night: the summary of one run of a matrix in a history, small enough to read thousands in seconds.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

inline constexpr const char* kTotalSeconds =
    "total_s";                                // the metric that is followed unless another is named
inline constexpr size_t kShortRevision = 12;  // characters of a revision in tables

struct NightRow {
  std::string row, scale, device, status, config;
  std::vector<double> totals_s;
  std::map<std::string, double> phases_ms;
  int64_t repeats = 0;
  std::map<std::string, double> metrics = {};
  std::vector<double> undisturbed_s = {};
  std::optional<int64_t> spoiled = {};

  bool ok() const { return !totals_s.empty(); }
  bool failed() const { return !ok() && status != "SKIPPED"; }
  // Others disturbed most of its runs so much that the night says nothing about the row.
  bool is_spoiled() const { return 2 * spoiled.value_or(0) > int64_t(totals_s.size()); }
  double median_s() const;  // as measured
  // What nights are compared by: undisturbed_s where there are any, else as measured; and their median.
  const std::vector<double>& compared_seconds() const;
  double compared_s() const;
  KEYS(
      NightRow, REQUIRED(row, "its id"), REQUIRED(scale, "as in the records"),
      REQUIRED(device, "as in the records"),
      REQUIRED(status, "OK, or that of the first repeat if none is OK"),
      REQUIRED(config, "hash of the resolved settings; another hash is another series"),
      REQUIRED(totals_s, "of the repeats with status OK, in order"),
      REQUIRED(phases_ms, "mean per batch, median over these repeats"),
      REQUIRED(repeats, "failed ones included"),
      WHEN_SET(metrics,
               "by name, those of report/metrics.h with `better`, as in table.csv; seconds are in totals_s"),
      WHEN_SET(
          undisturbed_s,
          "totals_s without the share of the processor that others took, only if the row waits for nothing "
          "else and others took 2 % or more of a run (stats/disturbance.h)"),
      WHEN_SET(
          spoiled,
          "repeats of which others took 10 % or more of the cores, if their seconds can't be corrected for it; "
          "where these are most, nights aren't compared with this one"));
};

struct Night {
  std::string id, started_at, tag, machine, environment, host, revision, run;
  bool imported = false, complete = true;
  std::map<std::string, double> canaries;
  std::vector<NightRow> rows;
  int64_t schema = 1;
  std::vector<std::string> gpu_faults = {};

  size_t rows_ok() const;  // those with a figure
  std::vector<std::string> spoiled_rows() const;
  KEYS(Night, REQUIRED(schema, "1"), REQUIRED(id, "time and host, usually the name of the run's folder"),
       REQUIRED(started_at, "UTC, ISO 8601"), REQUIRED(tag, "free text, e.g. a branch or a driver version"),
       REQUIRED(machine, "machine_fingerprint()"), REQUIRED(environment, "environment_key()"),
       REQUIRED(host, "name of the machine"), REQUIRED(revision, "of the sources"),
       REQUIRED(run, "folder of the run with the full records"),
       WHEN_SET(imported, "came from another history"),
       REQUIRED(complete, "false: the run was cut short; only finished rows are here"),
       REQUIRED(canaries, "ms by name, see machine_health.h; empty: none were run"),
       REQUIRED(rows, "one entry each"),
       WHEN_SET(gpu_faults,
                "what the driver told of GPUs that an operator should look at, "
                "see machine_health.h"));
};

// From the records of one run on one machine, with rows on emulated devices at full size (stats/full_size.h).
// The caller adds tag, run and canaries.
Night night_of(const std::string& id, const Records& records);

// Throws Violation.
Night night_from_json(const nlohmann::json& object);

}  // namespace harness
