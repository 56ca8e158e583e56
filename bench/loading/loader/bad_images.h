// Counts unreadable images and says when a data set has too many of them to be used.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace bench {

class BadImages {
 public:
  static constexpr int kMostInARow = 20;  // replacements of one image before loading stops
  static constexpr size_t kMostWarnings = 10;

  explicit BadImages(int64_t records) : records_(records) {}

  void count_good() { good_.fetch_add(1, std::memory_order_relaxed); }
  // Throws std::runtime_error when more than 1 % of the data set is bad: for certain, once that many
  // different records have failed; or by the sample so far, once their number is beyond what chance does to a
  // set with 1 %.
  void add(int64_t record, const std::string& name, const std::string& why);
  [[noreturn]] void stop_after_many_in_a_row(const std::string& why) const;

  int64_t good() const { return good_.load(std::memory_order_relaxed); }
  int64_t bad() const;
  std::vector<std::string> warnings() const;

 private:
  const int64_t records_;
  std::atomic<int64_t> good_{0};
  mutable std::mutex mutex_;
  int64_t bad_ = 0;
  std::set<int64_t> different_;
  std::vector<std::string> warnings_;
};

}  // namespace bench
