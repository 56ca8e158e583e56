// How much of a row's timed window others took from it on its cores.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "harness/contract/rank_report.h"

namespace harness {

// Collects the ranks' processor times. Ranks that share their cores are counted with one time of these cores.
class Interference {
 public:
  void add(const RankPlace& place, const CpuTime& time);
  // clock_change, window_own_s and the window_..._share of `environment`; they stay empty without
  // times. Others can have taken from the row at most what its threads waited for a core, and at most the
  // time that they used: the smaller of the two counts, so that a neighbour on idle cores is no disturbance.
  void write_to(RecordEnvironment& environment) const;

 private:
  std::optional<double> clock_change_;                                 // the largest of any rank
  std::map<std::pair<int64_t, std::vector<int64_t>>, CpuTime> cores_;  // machine and cores -> their time
};

}  // namespace harness
