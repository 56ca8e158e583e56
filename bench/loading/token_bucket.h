// A rate that several threads share: bytes of an emulated disk, images of emulated cores.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace bench {

class TokenBucket {
 public:
  // per_second: 0 for no limit.
  explicit TokenBucket(double per_second) : ns_each_(per_second > 0 ? 1e9 / per_second : 0) {}

  // When `amount`, which is requested now, has arrived. Requests are served in their order.
  std::chrono::steady_clock::time_point ready_at(double amount) {
    const int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    const int64_t cost = static_cast<int64_t>(std::min(ns_each_ * amount, kLongestNs));
    int64_t free_at = free_at_.load(), next;
    do next = std::max(free_at, now - kCreditNs) + cost;
    while (!free_at_.compare_exchange_weak(free_at, next));
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next));
  }
  bool limits() const { return ns_each_ > 0; }

 private:
  static constexpr int64_t kCreditNs =
      10'000'000;                             // unused time that is carried over, because sleeps end late
  static constexpr double kLongestNs = 1e15;  // of a request, 12 days: no sum of them leaves the type's range
  const double ns_each_;
  std::atomic<int64_t> free_at_{0};  // when the last request has arrived
};

}  // namespace bench
