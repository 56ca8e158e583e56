#include "bench/backend/traffic.h"

#include <utility>

namespace bench {

void Traffic::begin(Collective kind, Message message) {
  const std::lock_guard lock(mutex_);
  if (under_way_++ == 0) since_ = std::chrono::steady_clock::now();
  current_.bytes[size_t(kind)] += message.bytes;
  if (kind == Collective::all_reduce) current_.all_reduces.push_back(message);
}

void Traffic::end() {
  const std::lock_guard lock(mutex_);
  add_time_under_way(std::chrono::steady_clock::now());
  --under_way_;
}

const Traffic::Batch& Traffic::next_batch() {
  const std::lock_guard lock(mutex_);
  add_time_under_way(std::chrono::steady_clock::now());
  std::swap(current_, last_);  // both keep their memory: nothing is allocated inside the window
  current_.under_way_ms = 0;
  current_.bytes = {};
  current_.all_reduces.clear();
  return last_;
}

void Traffic::add_time_under_way(Time now) {
  if (under_way_ == 0) return;
  current_.under_way_ms += std::chrono::duration<double, std::milli>(now - since_).count();
  since_ = now;
}

}  // namespace bench
