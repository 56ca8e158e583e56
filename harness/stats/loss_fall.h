// Whether training lowered the loss.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

namespace harness {

struct LossFall {
  double from = 0, to = 0;  // means over the first and the last batches
};

// loss: of each batch, at least one.
inline LossFall loss_fall(const std::vector<double>& loss, size_t batches) {
  const size_t some = std::min(batches, loss.size());
  const auto mean = [&](auto first) { return std::accumulate(first, first + some, 0.0) / double(some); };
  return {mean(loss.begin()), mean(loss.end() - std::ptrdiff_t(some))};
}

inline bool fell(const LossFall& loss, double to_share) { return loss.to <= to_share * loss.from; }

}  // namespace harness
