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

// kFallOnOneBatch: in a few steps on the same batch, of which a network learns every image; an optimizer that
// doesn't step, gradients of zero or a wrong sign leave the loss where it was or raise it. kFallInSlice: over
// batches of ever new crops, more than the means of ten batches scatter.
constexpr double kFallOnOneBatch = 0.75, kFallInSlice = 0.95;
inline bool fell(const LossFall& loss, double to_share) { return loss.to <= to_share * loss.from; }

}  // namespace harness
