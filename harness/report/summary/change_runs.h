// The runs of each change of an explained row, and what one change gained over another in the blocks that
// they share.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "harness/contract/record.h"
#include "harness/experiment/verdict.h"
#include "harness/stats/inference.h"

namespace harness {

struct ChangeRuns {
  std::map<int64_t, double> seconds;  // per image by block, of the runs with a figure
  RecordList records;                 // these runs
  Row row;                            // as changed
  std::string why_not;                // of a run without a figure: the reason
  double added_ms = 0;                // of a burden: to each step
};

using RunsByChange = std::map<std::string, ChangeRuns>;

RunsByChange runs_by_change(const RecordList& records, const std::string& of);

double median_images_per_second(const ChangeRuns& runs);

// How much longer a step of `batch` images became per added time: 0 (hidden) to 1 (critical).
std::optional<Location> slope_of(const ChangeRuns& unchanged, const ChangeRuns& runs, int64_t batch);

// A block that was slow as a whole widens a borrowed interval, and is left out of a paired one.
class Gains {
 public:
  explicit Gains(const RunsByChange& all);  // which must outlive it
  // Of `after` over `before`. Empty without a block that has figures of both.
  std::optional<Ratio> of(const std::string& before, const std::string& after) const;

 private:
  const RunsByChange& all_;
  const Pools pools_;
};

}  // namespace harness
