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
  // Others disturbed most of its runs so much that the night says nothing about the row.
  bool is_spoiled() const { return 2 * spoiled.value_or(0) > int64_t(totals_s.size()); }
  double median_s() const;  // as measured
  // What nights are compared by: undisturbed_s where there are any, else as measured; and their median.
  const std::vector<double>& compared_seconds() const;
  double compared_s() const;
  static constexpr auto keys() {
    constexpr auto required = Presence::required;
    return known_keys(
        Key{"row", &NightRow::row, "its id", required},
        Key{"scale", &NightRow::scale, "as in the records", required},
        Key{"device", &NightRow::device, "as in the records", required},
        Key{"status", &NightRow::status, "OK, or that of the first repeat if none is OK", required},
        Key{"config", &NightRow::config, "hash of the resolved settings; another hash is another series",
            required},
        Key{"totals_s", &NightRow::totals_s, "of the repeats with status OK, in order", required},
        Key{"phases_ms", &NightRow::phases_ms, "mean per batch, median over these repeats", required},
        Key{"repeats", &NightRow::repeats, "failed ones included", required},
        Key{"metrics", &NightRow::metrics,
            "by name, those of report/metrics.h with `better`, as in table.csv; seconds are in totals_s",
            Presence::when_set},
        Key{"undisturbed_s", &NightRow::undisturbed_s,
            "totals_s without the share of the processor that others took, only if the row waits for nothing "
            "else and others took 2 % or more of a run (stats/disturbance.h)",
            Presence::when_set},
        Key{"spoiled", &NightRow::spoiled,
            "repeats of which others took 10 % or more of the cores, if their seconds can't be corrected for it; "
            "where these are most, nights aren't compared with this one",
            Presence::when_set});
  }
};

struct Night {
  std::string id, started_at, tag, machine, environment, host, revision, run;
  bool imported = false, complete = true;
  std::map<std::string, double> canaries;
  std::vector<NightRow> rows;
  int64_t schema = 1;
  std::vector<std::string> gpu_faults = {};

  size_t rows_ok() const;  // those with a figure
  static constexpr auto keys() {
    constexpr auto required = Presence::required;
    return known_keys(
        Key{"schema", &Night::schema, "1", required},
        Key{"id", &Night::id, "time and host, usually the name of the run's folder", required},
        Key{"started_at", &Night::started_at, "UTC, ISO 8601", required},
        Key{"tag", &Night::tag, "free text, e.g. a branch or a driver version", required},
        Key{"machine", &Night::machine, "machine_fingerprint()", required},
        Key{"environment", &Night::environment, "environment_key()", required},
        Key{"host", &Night::host, "name of the machine", required},
        Key{"revision", &Night::revision, "of the sources", required},
        Key{"run", &Night::run, "folder of the run with the full records", required},
        Key{"imported", &Night::imported, "came from another history", Presence::when_set},
        Key{"complete", &Night::complete, "false: the run was cut short; only finished rows are here",
            required},
        Key{"canaries", &Night::canaries, "ms by name, see machine_health.h; empty: none were run", required},
        Key{"rows", &Night::rows, "one entry each", required},
        Key{"gpu_faults", &Night::gpu_faults,
            "what the driver told of GPUs that an operator should look at, "
            "see machine_health.h",
            Presence::when_set});
  }
};

// From the records of one run on one machine. The caller adds tag, run and canaries.
Night night_of(const std::string& id, const Records& records);

// Throws Violation.
Night night_from_json(const nlohmann::json& object);

}  // namespace harness
