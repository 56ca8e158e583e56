// Counts reduced and updated elements, and describes the first violation as text.
#include "bench/train/timeline/gradient_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace bench {

void GradientOrder::reduced(int64_t elements, Nanoseconds end) {
  const std::lock_guard lock(mutex_);
  reduced_ += elements;
  reduced_until_ = std::max(reduced_until_, end);
}

void GradientOrder::stepped(int64_t weights, Nanoseconds begin) {
  const std::lock_guard lock(mutex_);
  stepped_ += weights;
  missing_ = std::max(missing_, due() - reduced_);
  early_ = std::max(early_, reduced_until_ - begin);
}

void GradientOrder::begin_again(int64_t weights, int64_t more, int64_t times) {
  const std::lock_guard lock(mutex_);
  weights_ = std::max(weights, int64_t{1});  // before a network is there, nothing is stepped
  more_ = more;
  times_ = times;
  reduced_ = stepped_ = missing_ = 0;
  reduced_until_ = early_ = 0;
}

int64_t GradientOrder::due() const { return times_ * stepped_ + more_ * (stepped_ / weights_); }

std::string GradientOrder::violation() const {
  const std::lock_guard lock(mutex_);
  if (missing_ > 0)
    return fmt::format(
        "the optimizer changed weights before their gradients were reduced over all ranks: {} elements were "
        "missing",
        missing_);
  if (early_ > 0)
    return fmt::format("the optimizer began {:.3f} ms before the last all-reduce had ended",
                       double(early_) * 1e-6);
  if (reduced_ != due())
    return fmt::format(
        "{} elements were reduced in {} steps of {} weights: each gradient is to be reduced {} times",
        reduced_, stepped_ / weights_, weights_, times_);
  return "";
}

}  // namespace bench
