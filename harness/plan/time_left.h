// The time that a run still needs, corrected by the rows that have ended.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "harness/plan/prediction.h"

namespace harness {

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
  size_t runs() const { return runs_.size(); }

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
