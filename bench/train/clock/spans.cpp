// Accumulates milliseconds under a name and stores their sum at the end of each batch.
#include "bench/train/clock/spans.h"

#include <algorithm>
#include <utility>

namespace bench {

size_t Spans::add(std::string name) {
  for (size_t i = 0; i < spans_.size(); ++i)
    if (spans_[i].name == name) return i;
  spans_.push_back({std::move(name)});
  return spans_.size() - 1;
}

void Spans::start(int64_t batches) {
  for (Span& span : spans_) {
    span.current_ms = 0;
    span.batches_ms.clear();
    span.batches_ms.reserve(size_t(batches));
  }
}

void Spans::count_later(size_t span, const std::vector<double>& batches_ms) {
  std::vector<double>& known = spans_[span].batches_ms;
  for (size_t batch = 0; batch < std::min(known.size(), batches_ms.size()); ++batch)
    known[batch] += batches_ms[batch];
}

void Spans::next_batch() {
  for (Span& span : spans_) span.batches_ms.push_back(std::exchange(span.current_ms, 0.0));
}

}  // namespace bench
