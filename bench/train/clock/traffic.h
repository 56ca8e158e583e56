// What the collectives of one rank carry, batch by batch: the evidence behind "all-reduced bytes", "buckets"
// and "communication" in a record.
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

enum class Collective { all_reduce, broadcast, all_gather };  // what else there is carries no training data

class Traffic {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A message as one rank gave it away.
  struct Message {
    int64_t bytes = 0;
    int type = 0;  // c10::ScalarType
  };
  struct Event {
    Collective kind;
    Time posted, ended;  // ended: the clock's epoch while it is under way
  };
  struct Batch {
    double under_way_ms = 0;            // time in which the host had at least one posted and not done
    std::array<int64_t, 3> bytes = {};  // by Collective, of this rank's messages
    std::vector<Message> all_reduces;   // in the order in which they were posted
    std::vector<Event> collectives;     // all of them, in that order
  };
  // Which collective ends.
  struct Ticket {
    int64_t batch;
    size_t place;  // in its `collectives`
  };

  // Called by any thread when a collective is posted, and when it has ended.
  Ticket begin(Collective kind, Message message);
  void end(Ticket ticket);
  // In place of end(), for a collective that a device carries behind the host's back: it is asked, by the
  // training thread, until it knows for how many milliseconds it was under way there.
  using Duration = std::function<std::optional<double>()>;
  void end_on_device(Ticket ticket, Duration duration);
  // Training thread, between batches: everything since the last call. The returned object stays valid, and
  // unchanged, until the next call.
  const Batch& next_batch();
  // Training thread, after the device was synchronised: what it told of each batch since the last call,
  // milliseconds; the batch under way last.
  std::vector<double> take_device_ms();

 private:
  void ask_device();
  void add_time_under_way(Time now);
  std::mutex mutex_;
  int under_way_ = 0;
  int64_t batch_ = 0;
  Time since_;
  Batch current_, last_;
  std::deque<std::pair<int64_t, Duration>> on_device_;  // with their batches, as they were given away
  std::vector<double> device_ms_;                       // from first_on_device_ on
  int64_t first_on_device_ = 0;
};

}  // namespace bench
