// Predicts the duration of rows from earlier runs.
#pragma once
#include <string>
#include <vector>

#include "harness/config/scales.h"
#include "harness/contract/record.h"
#include "harness/plan/plan.h"

namespace harness {

struct Prediction {
  enum class From { earlier_runs, other_settings, estimate };
  double seconds = 0;
  From from = From::estimate;
};

// Duration of one row in an earlier run.
struct PastDuration {
  std::string row, scale, machine, config;  // machine: as machine_for(); config: config_hash()
  double wall_s = 0;
  double batches = 0;  // including warm-up

  static constexpr bool kAsList = true;
  static constexpr auto keys() {
    return known_keys(Key{"row", &PastDuration::row, "its id"},
                      Key{"scale", &PastDuration::scale, "of the run"},
                      Key{"machine", &PastDuration::machine, "as machine_for()"},
                      Key{"config", &PastDuration::config, "config_hash()"},
                      Key{"wall_s", &PastDuration::wall_s, "of the row"},
                      Key{"batches", &PastDuration::batches, "warm-up included"});
  }
};

// machine_fingerprint() from facts known before a run, i.e. without the name of a GPU.
std::string machine_for(const RecordMachine& machine, const std::string& device_kind);

// The OK rows of the newest kRunsRead runs in `runs`, newest run first. Caches them in runs/durations.json,
// which may be deleted, so that each run is parsed once.
inline constexpr size_t kRunsRead = 20;
std::vector<PastDuration> read_past_durations(const fs::path& runs);

// Uses the first available: the median of the newest runs of this row on this machine with the same settings;
// what the model of an emulated device expects; with other settings at this scale; an estimate from the
// number of batches.
Prediction predict(const PlannedRow& planned, const Scale& scale, const RecordMachine& machine,
                   const std::vector<PastDuration>& past);

// `2.1 s`, `45 s`, `8 min`, `2.5 h`.
std::string duration_text(double seconds);
// `about 8 min for 27 rows (25 known from earlier runs, 2 estimated)`. `of_rows`: one prediction per row that
// runs; `seconds`, `runs`: total over all runs.
std::string describe_predictions(const std::vector<Prediction>& of_rows, double seconds, size_t runs);

}  // namespace harness
