// Counts unreadable images and stops the loader when a data set has too many of them. Thread-safe.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bench/loading/loader/loader.h"

namespace bench {

class BadImages {
 public:
  static constexpr int kMostInARow = 20;  // replacements of one image before loading stops
  static constexpr size_t kMostWarnings = 10;

  // next_step: for what BadDataset says.
  BadImages(int64_t records, std::string next_step) : records_(records), next_step_(std::move(next_step)) {}

  void count_good(int64_t images = 1) { good_.fetch_add(images, std::memory_order_relaxed); }
  // Throws BadDataset when more than 1 % of the data set is bad: either more than 1 % of all records have
  // failed, or the number of failures so far exceeds 1 % of the images seen by 3 standard deviations
  // (Poisson).
  void add(int64_t record, const std::string& name, const std::string& why);
  // Throws BadDataset. Called after kMostInARow failures in a row.
  [[noreturn]] void stop_after_many_in_a_row(const std::string& name, const std::string& why) const;

  void add_to(LoaderStats& stats) const;  // the images so far, good and bad ones

 private:
  const int64_t records_;
  const std::string next_step_;
  std::atomic<int64_t> good_{0};
  mutable std::mutex mutex_;
  int64_t bad_ = 0;
  std::set<int64_t> different_;
  std::vector<std::string> warnings_;
};

}  // namespace bench
