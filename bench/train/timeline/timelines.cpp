// Keeps the end of the last operation for each stream, and a virtual clock for each device's host.
#include "bench/train/timeline/timelines.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "harness/base/timer_slack.h"

namespace bench {

Nanoseconds steady_now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void sleep_until(Nanoseconds instant) {
  base::sleep_precisely();
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(instant)));
}

Timelines::Timelines(int devices, Nanoseconds launch_cost)
    : devices_(size_t(devices)), launch_cost_(launch_cost) {
  const Nanoseconds now = steady_now();
  for (Device& device : devices_) {
    device.host = now;
    std::fill(std::begin(device.tails), std::end(device.tails), now);
  }
}

Nanoseconds Timelines::launch(int device, int stream, Nanoseconds duration, int launches) {
  const std::lock_guard lock(mutex_);
  Device& on = devices_.at(size_t(device));
  Nanoseconds& tail = on.tails[stream];
  on.host += launch_cost_ * launches;
  // The first kernel begins after its own launch; the last one can't end before it was launched.
  const Nanoseconds begin = std::max(tail, on.host - launch_cost_ * (launches - 1));
  return tail = std::max(begin + duration, on.host);
}

Nanoseconds Timelines::copy(int from, int from_stream, int to, int to_stream, Nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  Device &source = devices_.at(size_t(from)), &target = devices_.at(size_t(to));
  source.host += launch_cost_;
  target.host = std::max(target.host, source.host);
  Nanoseconds &source_tail = source.tails[from_stream], &target_tail = target.tails[to_stream];
  return source_tail = target_tail = std::max({source_tail, target_tail, source.host}) + duration;
}

Nanoseconds Timelines::together(const std::vector<int>& devices, Nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  // One launch for each device.
  const Nanoseconds launched = devices_.at(0).host += launch_cost_ * Nanoseconds(devices.size());
  Nanoseconds begin = launched;
  for (const int device : devices) begin = std::max(begin, devices_.at(size_t(device)).tails[0]);
  for (const int device : devices) {
    devices_[size_t(device)].tails[0] = begin + duration;
    devices_[size_t(device)].host = std::max(devices_[size_t(device)].host, launched);
  }
  return begin + duration;
}

Nanoseconds Timelines::tail(int device, int stream) const {
  const std::lock_guard lock(mutex_);
  return devices_.at(size_t(device)).tails[stream];
}

Nanoseconds Timelines::now(int device, int stream) const {
  const std::lock_guard lock(mutex_);
  const Device& on = devices_.at(size_t(device));
  return std::max(on.tails[stream], on.host);
}

Nanoseconds Timelines::tail_of_all(int device) const {
  const std::lock_guard lock(mutex_);
  const auto& tails = devices_.at(size_t(device)).tails;
  return *std::max_element(std::begin(tails), std::end(tails));
}

void Timelines::hold_up(int device, int stream, Nanoseconds until) {
  const std::lock_guard lock(mutex_);
  Nanoseconds& tail = devices_.at(size_t(device)).tails[stream];
  tail = std::max(tail, until);
}

void Timelines::join_host(int device, Nanoseconds instant) {
  const std::lock_guard lock(mutex_);
  Nanoseconds& host = devices_.at(size_t(device)).host;
  host = std::max(host, instant);
}

void Timelines::spend_host(int device, Nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  devices_.at(size_t(device)).host += duration;
}

void Timelines::wait(int device, Nanoseconds until) {
  {
    const std::lock_guard lock(mutex_);
    Nanoseconds& host = devices_.at(size_t(device)).host;
    until = host = std::max(host, until);
  }
  sleep_until(until);
  const std::lock_guard lock(mutex_);
  waits_.push_back(std::max<Nanoseconds>(0, steady_now() - until));
}

void Timelines::next_batch() {
  const std::lock_guard lock(mutex_);
  if (counted_ < waits_.size())
    batches_.push_back(*std::min_element(waits_.begin() + std::ptrdiff_t(counted_), waits_.end()));
  counted_ = waits_.size();
  uncertain_.push_back(std::exchange(uncertain_now_, 0));
}

void Timelines::uncertain_arrival(Nanoseconds by) {
  const std::lock_guard lock(mutex_);
  uncertain_now_ += by;
}

static Nanoseconds middle(std::vector<Nanoseconds> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

Timelines::Lag Timelines::lag() const {
  const std::lock_guard lock(mutex_);
  const std::vector<Nanoseconds>& lags = batches_.empty() ? waits_ : batches_;
  if (lags.empty()) return {0, 0, middle(uncertain_), 0};
  return {middle(lags), *std::max_element(lags.begin(), lags.end()), middle(uncertain_),
          int64_t(waits_.size())};
}

void Timelines::begin_again() {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = steady_now();
  for (Device& device : devices_) device.host = std::max(device.host, now);
  waits_.clear();
  batches_.clear();
  uncertain_.clear();
  uncertain_now_ = 0;
  counted_ = 0;
}

}  // namespace bench
