#include "bench/phase_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {

PhaseRanges::PhaseRanges(Ranges& ranges, int64_t batches) : ranges_(ranges), batches_(batches) {
  constexpr size_t kPhases = 32;  // more than any strategy closes: nothing is allocated in a batch
  before_.reserve(kPhases);
  closed_.reserve(kPhases);
}

void PhaseRanges::start() {
  end_all();
  begin_batch();
}

void PhaseRanges::close(Phase phase) {
  if (std::exchange(noted_, false)) {
    if (noted_phase_ == phase) return;     // its range has ended where it was noted
    if (noted_phase_) closed_.pop_back();  // it was another phase's end
  }
  go_on(phase);
}

void PhaseRanges::note_boundary() {
  if (std::exchange(noted_, true)) return;
  noted_phase_ = expected_;
  go_on(expected_);
}

void PhaseRanges::next_batch() {
  end_all();
  std::swap(before_, closed_);
  ++batch_;
  begin_batch();
}

void PhaseRanges::begin_batch() {
  noted_ = false;
  closed_.clear();
  expected_.reset();
  if (batch_ >= batches_) return;
  batch_range_ = ranges_.begin(fmt::format("batch {}", batch_).c_str());
  go_on(std::nullopt);
}

void PhaseRanges::go_on(std::optional<Phase> closed) {
  end_phase();
  if (closed) closed_.push_back(*closed);
  expected_ = following();
  if (expected_ && batch_range_) phase_range_ = ranges_.begin(kPhaseNames[size_t(*expected_)].data());
}

// Phases occur more than once in a batch: the third `load` is followed by what followed the third one before.
std::optional<Phase> PhaseRanges::following() const {
  auto place = before_.begin();
  if (!closed_.empty()) {
    for (auto times = std::count(closed_.begin(), closed_.end(), closed_.back()); times > 0; --times) {
      place = std::find(place, before_.end(), closed_.back());
      if (place == before_.end()) return std::nullopt;
      ++place;
    }
  }
  return place == before_.end() ? std::nullopt : std::optional(*place);
}

void PhaseRanges::end_phase() {
  if (phase_range_) ranges_.end(*std::exchange(phase_range_, std::nullopt));
}

void PhaseRanges::end_all() {
  end_phase();
  if (batch_range_) ranges_.end(*std::exchange(batch_range_, std::nullopt));
}

}  // namespace bench
