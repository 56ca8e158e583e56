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
  missing_ = std::max(missing_, stepped_ - reduced_);
  early_ = std::max(early_, reduced_until_ - begin);
}

void GradientOrder::begin_again() {
  const std::lock_guard lock(mutex_);
  reduced_ = stepped_ = missing_ = 0;
  reduced_until_ = early_ = 0;
}

std::string GradientOrder::violation(int64_t weights, int64_t more, int64_t times) const {
  const std::lock_guard lock(mutex_);
  if (missing_ > 0)
    return fmt::format("the optimizer changed {} weights before their gradients were reduced over all ranks",
                       missing_);
  if (early_ > 0)
    return fmt::format("the optimizer began {:.3f} ms before the last all-reduce had ended",
                       double(early_) * 1e-6);
  const int64_t steps = stepped_ / weights, extra = reduced_ - times * stepped_;
  if (extra != steps * more)
    return fmt::format(
        "{} elements were reduced in {} steps of {} weights: each gradient is to be reduced {} times",
        reduced_, steps, weights, times);
  return "";
}

}  // namespace bench
