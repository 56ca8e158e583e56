// Records sizes and times of one rank's collectives per batch, for "all-reduced bytes", "buckets" and
// "communication" in a record.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace bench {

enum class Collective { all_reduce, broadcast, all_gather };  // others carry no training data

class Traffic {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // The input of a collective on this rank.
  struct Message {
    int64_t bytes = 0;
    int type = 0;  // c10::ScalarType
  };
  struct Event {
    Collective kind;
    Time posted, ended;  // ended: default value while in progress
  };
  struct Batch {
    double under_way_ms = 0;            // time with at least one collective in progress, seen by the host
    std::array<int64_t, 3> bytes = {};  // by Collective, of this rank's messages
    std::vector<Message> all_reduces;   // in posting order
    std::vector<Event> collectives;     // all collectives, in posting order
  };
  // Identifies a collective in progress.
  struct Ticket {
    int64_t batch;
    size_t place;  // in its `collectives`
  };

  // Call when a collective is posted, and when it has completed. Any thread.
  Ticket begin(Collective kind, Message message);
  void end(Ticket ticket);
  // Instead of both, before the call that posts it and after, for a collective that runs asynchronously on a
  // device: the host's time in that call doesn't count as under way. The training thread polls `duration`
  // until it returns the device time in ms.
  Ticket begin_on_device(Collective kind, Message message);
  using Duration = std::function<std::optional<double>()>;
  void end_on_device(Ticket ticket, Duration duration);
  // Returns everything since the last call; valid until the next call. Training thread, between batches.
  const Batch& next_batch();
  // Device time in ms per batch since the last call; the last entry is the current batch. Training thread,
  // after synchronising the device.
  std::vector<double> take_device_ms();

 private:
  Ticket note(Collective kind, Message message, Time now);
  void note_end(Ticket ticket, Time now);
  void ask_device();
  void add_time_under_way(Time now);
  std::mutex mutex_;
  int under_way_ = 0;
  int64_t batch_ = 0;
  Time since_;
  Batch current_, last_;
  std::deque<std::pair<int64_t, Duration>> on_device_;  // batch and duration, in posting order
  std::vector<double> device_ms_;                       // from first_on_device_ on
  int64_t first_on_device_ = 0;
};

}  // namespace bench
