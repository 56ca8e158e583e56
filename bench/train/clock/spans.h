// Spans: durations that overlap phases or lie inside one, summed batch by batch. bench/README.md names them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

class Spans {
 public:
  // Registers a span before the slice, or finds the one of that name; the returned number stays valid.
  size_t add(std::string name);
  // Training thread: some milliseconds of that span lay in the current batch.
  void count(size_t span, double milliseconds) { spans_[span].current_ms += milliseconds; }

  // What became known after the slice, of each batch from the first.
  void count_later(size_t span, const std::vector<double>& batches_ms);

  // Forgets what was counted and takes room for that many batches; the loop allocates nothing.
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
