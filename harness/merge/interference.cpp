// Adds up the processor time per set of cores, so that ranks on the same cores are not counted twice.
#include "harness/merge/interference.h"

#include <algorithm>
#include <cmath>

namespace harness {

void Interference::add(const RankPlace& place, const CpuTime& time) {
  if (time.clock_change && std::abs(*time.clock_change) >= std::abs(clock_change_.value_or(0)))
    clock_change_ = time.clock_change;
  const auto [cores, is_first] = cores_.try_emplace({time.machine, place.cpus}, time);
  if (is_first) return;
  CpuTime& sum = cores->second;
  sum.own_s += time.own_s;
  if (sum.queued_s && time.queued_s)
    *sum.queued_s += *time.queued_s;
  else
    sum.queued_s.reset();
}

void Interference::write_to(RecordEnvironment& environment) const {
  environment.clock_change = clock_change_;
  double total_s = 0, stolen_s = 0, busy_s = 0, outside_s = 0, own_s = 0;
  bool all_queued_known = true;
  for (const auto& [cores, time] : cores_) {
    total_s += time.total_s;
    stolen_s += time.stolen_s;
    busy_s += time.busy_s;
    own_s += time.own_s;
    all_queued_known = all_queued_known && time.queued_s;
    outside_s +=
        std::clamp(time.busy_s - time.own_s - time.kernel_s, 0.0, std::max(0.0, time.queued_s.value_or(0)));
  }
  if (total_s <= 0) return;
  environment.window_own_s = own_s;
  environment.window_steal_share = std::clamp(stolen_s / total_s, 0.0, 1.0);
  environment.window_busy_share = std::clamp(busy_s / total_s, 0.0, 1.0);
  if (all_queued_known) environment.window_outside_share = std::clamp(outside_s / total_s, 0.0, 1.0);
}

}  // namespace harness
