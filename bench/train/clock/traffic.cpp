// Sums message sizes and the time in which at least one collective is in progress, under a lock.
#include "bench/train/clock/traffic.h"

#include <utility>

namespace bench {

Traffic::Ticket Traffic::note(Collective kind, Message message, Time now) {
  current_.bytes[size_t(kind)] += message.bytes;
  if (kind == Collective::all_reduce) current_.all_reduces.push_back(message);
  current_.collectives.push_back({kind, now, {}});
  return {batch_, current_.collectives.size() - 1};
}

// Ignored if the batch has already been returned by next_batch().
void Traffic::note_end(Ticket ticket, Time now) {
  if (ticket.batch == batch_) current_.collectives[ticket.place].ended = now;
}

Traffic::Ticket Traffic::begin(Collective kind, Message message) {
  const std::lock_guard lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  if (under_way_++ == 0) since_ = now;
  return note(kind, message, now);
}

void Traffic::end(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  add_time_under_way(now);
  --under_way_;
  note_end(ticket, now);
}

Traffic::Ticket Traffic::begin_on_device(Collective kind, Message message) {
  const std::lock_guard lock(mutex_);
  return note(kind, message, std::chrono::steady_clock::now());
}

void Traffic::end_on_device(Ticket ticket, Duration duration) {
  const std::lock_guard lock(mutex_);
  note_end(ticket, std::chrono::steady_clock::now());
  on_device_.emplace_back(ticket.batch, std::move(duration));
}

// A device runs collectives in order, so the loop stops at the first unfinished one.
void Traffic::ask_device() {
  for (; !on_device_.empty(); on_device_.pop_front()) {
    const auto& [batch, duration] = on_device_.front();
    const std::optional<double> ms = duration();
    if (!ms) return;
    if (batch >= first_on_device_) device_ms_[size_t(batch - first_on_device_)] += *ms;
  }
}

std::vector<double> Traffic::take_device_ms() {
  const std::lock_guard lock(mutex_);
  device_ms_.resize(size_t(batch_ - first_on_device_ + 1));
  ask_device();
  first_on_device_ = batch_;
  return std::exchange(device_ms_, {});
}

const Traffic::Batch& Traffic::next_batch() {
  const std::lock_guard lock(mutex_);
  add_time_under_way(std::chrono::steady_clock::now());
  std::swap(current_, last_);  // both keep their memory: no allocation in the timed window
  current_.under_way_ms = 0;
  current_.bytes = {};
  current_.all_reduces.clear();
  current_.collectives.clear();
  if (!on_device_.empty()) {
    device_ms_.resize(size_t(batch_ - first_on_device_ + 1));
    ask_device();
  }
  ++batch_;
  return last_;
}

void Traffic::add_time_under_way(Time now) {
  if (under_way_ == 0) return;
  current_.under_way_ms += std::chrono::duration<double, std::milli>(now - since_).count();
  since_ = now;
}

}  // namespace bench
