// Prediction: how long rows will take, from how long they took before.
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

// What one row took in an earlier run.
struct PastDuration {
  std::string row, scale, machine, config;  // machine: as machine_for(); config: config_hash()
  double wall_s = 0;
  double batches = 0;  // warm-up included
};

// Name of a machine before anything has run on it, so that no device has said its name yet.
std::string machine_for(const RecordMachine& machine, const std::string& device_kind);

// The rows with a figure of the newest kRunsRead runs in `runs`, newest run first. What was read is kept in
// runs/durations.json, so that each run is read once; that file may be deleted.
inline constexpr size_t kRunsRead = 20;
std::vector<PastDuration> read_past_durations(const fs::path& runs);

// In this order: the same row with the same settings on this machine, median of its newest runs; the same row
// at this scale with other settings; an estimate from the number of batches.
Prediction predict(const Row& row, const Scale& scale, const RecordMachine& machine,
                   const std::vector<PastDuration>& past);

// `2.1 s`, `45 s`, `8 min`, `2.5 h`.
std::string duration_text(double seconds);
// `about 8 min for 27 rows (25 known from earlier runs, 2 estimated)`; of rows that run: their predictions
// for one run each, and all runs of all rows together.
std::string describe_predictions(const std::vector<Prediction>& of_rows, double seconds, size_t runs);

}  // namespace harness
