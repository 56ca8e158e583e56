// Nests a range per phase in a range per batch, through two functions of the profiler.
#include "bench/train/clock/phase_ranges.h"

#include <fmt/format.h>

namespace bench {

void PhaseRanges::enter(Phase phase) {
  if (phase_range_) end_(*phase_range_);
  if (!batch_range_) batch_range_ = begin_(fmt::format("batch {}", batch_).c_str());
  phase_range_ = begin_(kPhaseNames[size_t(phase)].data());
}

void PhaseRanges::next_batch() {
  end_both();
  ++batch_;
}

void PhaseRanges::end_both() {
  for (auto* range : {&phase_range_, &batch_range_})
    if (*range) end_(*std::exchange(*range, std::nullopt));
}

}  // namespace bench
