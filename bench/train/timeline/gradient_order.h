// Checks the order of emulated gradients, which have no values to compare: each is reduced over all
// ranks as often as planned, before the optimizer uses it. Counts elements, so that it holds for buckets of
// any size and type.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>

#include "bench/train/timeline/timelines.h"

namespace bench {

class GradientOrder {
 public:
  // An all-reduce of that many elements has ended on the timeline. Called by the communication thread.
  void reduced(int64_t elements, Nanoseconds end);
  // The optimizer's kernel for that many weights begins.
  void stepped(int64_t weights, Nanoseconds begin);
  // At the window's start. weights: of the network; more: elements that each step reduces besides gradients,
  // as SyncBN's sums, or 0; times: how often a step reduces each gradient.
  void begin_again(int64_t weights, int64_t more, int64_t times);

  // What is wrong; empty when nothing is.
  std::string violation() const;

 private:
  int64_t due() const;  // elements that had to be reduced before what was stepped

  mutable std::mutex mutex_;
  int64_t weights_ = INT64_MAX, more_ = 0, times_ = 1;
  int64_t reduced_ = 0, stepped_ = 0;
  int64_t missing_ = 0;                        // most elements that a step was too early for
  Nanoseconds reduced_until_ = 0, early_ = 0;  // end of the last all-reduce; most that a step began before it
};

}  // namespace bench
