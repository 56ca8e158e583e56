// Host batches that a device has been given and not yet returned to the loader.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "bench/loading/loader/loader.h"

namespace bench {

// Copy: what the device knows a copy's end by.
template <class Copy>
class CopiesUnderWay {
 public:
  // non_blocking: the host doesn't wait for copies.
  explicit CopiesUnderWay(bool non_blocking) : non_blocking_(non_blocking) {}
  void add(const Batch& batch, Copy copy) {
    under_way_.push_back({batch, copy});
    synchronised_ = false;
  }
  // The host has waited for the end of all copies so far.
  void note_synchronised() { synchronised_ = true; }
  const Copy& last() const { return under_way_.back().second; }
  // The oldest batch; nothing while that is also the last one, whose copy may not be complete. The caller
  // waits for the end of the copy.
  std::optional<std::pair<Batch, Copy>> take() {
    if (under_way_.empty() || (under_way_.size() == 1 && non_blocking_ && !synchronised_))
      return std::nullopt;
    const std::pair<Batch, Copy> oldest = under_way_.front();
    under_way_.erase(under_way_.begin());
    return oldest;
  }

 private:
  const bool non_blocking_;
  std::vector<std::pair<Batch, Copy>> under_way_;
  bool synchronised_ = true;
};

}  // namespace bench
