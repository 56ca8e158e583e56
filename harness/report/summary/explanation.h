// What binds a row, from runs of `explain`: each changes one thing, and what it gains is measured.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/experiment/intervention.h"
#include "harness/experiment/verdict.h"
#include "harness/report/summary/device_time.h"

namespace harness {

struct ExplainedChange {
  const Intervention* change = nullptr;
  std::string why_not;           // it has no run with a figure: why
  double images_per_second = 0;  // median
  // Over the unchanged runs, and over those of its partner (`over`), in the blocks that both ran: above 1
  // when the change is faster. With fewer than kFewestRuns an interval by the scatter of all changes of the
  // row (stats/inference.h), if there is one, else a range.
  std::optional<Ratio> effect, part;
  const Intervention* over = nullptr;
  // The part of the unchanged step, 0-1, that would disappear if the resource took no time. If its work
  // becomes f times as fast, and the row r times as fast as `over`, it is (1 - 1 / r) / (1 - 1 / f) of the
  // step of `over`.
  double share = 0;
  double p = 1;                 // of `part`, by Holm's correction for all changes
  bool decided = false;         // `part` decides, `p` is below kLevel, and the gain at least kLeastGain
  std::optional<double> price;  // in Prices::unit, 0: free; empty: unknown, or the price file lacks it
  // Images more for a kWh than unchanged, and kWh less for an image. Empty: energy is unknown, the change
  // can't be had, or measured energy would be compared with stated.
  std::optional<double> more_images_per_kwh, less_kwh_per_image;
  // Of a trial whose job ran with no other change: the mean loss of its last steps, and unchanged of the same
  // ones.
  std::optional<double> loss, unchanged_loss;
  // Of a burden: milliseconds that a batch became longer per millisecond added, 0 (hidden) to 1 (critical).
  std::optional<Location> slope;

  // It may be named as a cause: it relieves a resource, was compared, and is no trial.
  bool is_candidate() const;
};

struct Explanation {
  std::string of;  // id of the row
  Row row;         // as it ran unchanged
  bool emulated = false;
  bool own = false;  // it is a user's own job
  std::string scale;
  RecordList unchanged;  // its runs with a figure
  std::optional<Prices> prices;
  double bytes_per_image = 0;            // encoded; 0: unknown
  std::optional<Energy> energy;          // unchanged; only with the price of a kWh
  double images_per_second = 0;          // unchanged, median
  size_t blocks = 0;                     // runs of the unchanged row
  std::string why_not;                   // without such runs: the reason of the last one
  std::vector<ExplainedChange> changes;  // reliefs by falling gain, then dependences and burdens
  // Resources whose relief is decided, the largest share first; no trials. Empty: none is.
  std::vector<const ExplainedChange*> binding() const;
  // What has the largest share, if its gain isn't sure; null if it is, or if nothing gains kLeastGain.
  const ExplainedChange* likely() const;
};

// Names of the changes that gained nothing, where another gained much: they can't be the cause, and time is
// better spent on the others. Empty where nothing gained much.
std::set<std::string> changes_without_gain(const Explanation& explanation);

// One for each explained row, in the order of the records.
std::vector<Explanation> explanations_of(const RecordList& records);
// What binds the loader, from the runs of `feed`: one block, in which each change has the median of its runs.
Explanation explanation_of_loader(const RecordList& records);

}  // namespace harness
