// Night: what a history keeps of one run of a matrix, small enough that thousands stay readable in seconds.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

inline constexpr size_t kShortRevision = 12;  // characters of a revision that tables show

struct NightRow {
  std::string row, scale, device;
  std::string status;                       // OK, or that of the first repeat that failed when none is OK
  std::string config;                       // hash of the resolved settings: another hash is another series
  std::vector<double> totals_s;             // of the repeats with status OK, in their order
  std::map<std::string, double> phases_ms;  // mean per batch, median over the repeats
  int64_t repeats = 0;                      // failed ones included

  bool ok() const { return !totals_s.empty(); }
  double median_s() const;
};

struct Night {
  std::string id;           // time and host, as its run's folder is named
  std::string started_at;   // UTC, ISO 8601
  std::string tag;          // free text, e.g. a branch or a driver version
  std::string machine;      // machine_fingerprint()
  std::string environment;  // environment_key()
  std::string host, revision;
  std::string run;                         // folder of the run with the full records
  bool imported = false;                   // came from another history
  bool complete = true;                    // false: the run was cut short and this is what it had finished
  std::map<std::string, double> canaries;  // fixed work in ms, see canaries.h; empty: none were run
  std::vector<NightRow> rows;
};

// From the records of one run, which share a machine. `canaries` and `tag` are added by who has them.
Night night_of(const std::string& id, const Records& records);

nlohmann::json to_json(const Night& night);
// Throws std::invalid_argument that says what is missing or of a wrong type.
Night night_from_json(const nlohmann::json& object);

}  // namespace harness
