// Predicts the duration of rows from earlier runs, and the time that a run still needs from the rows that
// have ended.
#pragma once
#include <cstddef>
#include <map>
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
  std::string row, scale, machine, config;
  double wall_s = 0;
  double batches = 0;  // including warm-up

  static constexpr bool kAsList = true;
  KEYS(PastDuration, KEY(row, "its id"), KEY(scale, "of the run"),
       KEY(machine, "machine_fingerprint() without the name of a GPU, which isn't known before a run"),
       KEY(config, "config_hash()"), KEY(wall_s, "of the row"), KEY(batches, "warm-up included"));
};

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

// Time for tables, plots and the page after the last row, as long as on two cores.
inline constexpr double kReport_s = 20;

// Rows are numbered as in the plan. A row that has run takes its own mean time again. Other predictions are
// multiplied by the ratio of the ended rows' times to their predictions, separately for rows known from
// earlier runs and for estimates.
class TimeLeft {
 public:
  // `rows`: prediction for one run of each row; `runs`: row of each run to do, in order. `maybe`: runs that
  // follow as far as they end within `limit_s` from the start.
  TimeLeft(std::vector<Prediction> rows, std::vector<size_t> runs, std::vector<size_t> maybe = {},
           double limit_s = 0);
  // Expected time of one run. `running_s`: expected time of the run in progress, 0 if unknown.
  double run_s(size_t row, double running_s = 0) const;
  void ended(size_t row, double seconds);  // a run of `row`, the next of `runs` while any are left
  // From now to the end, without the run in progress. `elapsed_s`: from the start to the end of that run.
  double rest_s(double elapsed_s, double running_s) const;

 private:
  struct Sums {
    double took_s = 0, predicted_s = 0;
  };
  std::vector<Prediction> rows_;
  std::vector<size_t> runs_, maybe_;
  double limit_s_;
  size_t ended_ = 0;
  std::map<size_t, std::vector<double>> took_;  // by row
  std::map<Prediction::From, Sums> sums_;
};

}  // namespace harness
