// Spans: durations that overlap phases or are part of one, summed per batch. bench/README.md lists them. Not
// thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

class Spans {
 public:
  // Registers a span, or finds the one of that name; returns its index. Call before the slice.
  size_t add(std::string name);
  // Adds milliseconds to the span in the current batch. Training thread only.
  void count(size_t span, double milliseconds) { spans_[span].current_ms += milliseconds; }

  // Adds durations that become known after the slice, per batch from the first.
  void count_later(size_t span, const std::vector<double>& batches_ms);

  // Resets all spans and allocates memory for `batches` batches, so the loop allocates nothing.
  void start(int64_t batches);
  void next_batch();

  struct Span {
    std::string name;
    double current_ms = 0;
    std::vector<double> batches_ms = {};
  };
  const std::vector<Span>& all() const { return spans_; }

 private:
  std::vector<Span> spans_;
};

}  // namespace bench
