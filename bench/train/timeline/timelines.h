// Timelines: the time of emulated devices, computed by the rules of CUDA's streams, events and launches.
//
// An operation's begin and end are instants that are computed when the host launches it, never "now +
// duration": a host thread that wakes up late or shares its core changes no instant. The host has a virtual
// clock too. A launch advances it by the launch cost; it joins only what really happened (a batch is ready,
// bytes arrived) and the end of what the host waits for. While the real clock keeps up with the virtual one
// the row is valid; lag() says how far it fell behind.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

namespace bench {

using Nanoseconds = int64_t;  // an instant of std::chrono::steady_clock, or a duration

Nanoseconds steady_now();
void sleep_until(Nanoseconds instant);  // precisely; returns at once when it is past

class Timelines {
 public:
  static constexpr int kStreams = 16;  // of each device; stream 0 is the default one

  // launch_cost: host time of one kernel launch. Host clocks begin now.
  Timelines(int devices, Nanoseconds launch_cost);

  // The host gives one operation of `launches` kernels to a stream. It begins when the host has launched it
  // and the stream has ended what it was given before; a kernel takes at least as long as its launch. Returns
  // its end.
  Nanoseconds launch(int device, int stream, Nanoseconds duration, int launches = 1);
  // A copy between two devices, by CUDA's rule: it occupies the source's stream, begins when the
  // destination's stream is ready too, and the destination's stream waits for its end. Returns its end.
  Nanoseconds copy(int from, int from_stream, int to, int to_stream, Nanoseconds duration);
  // One operation of several devices together on their default streams, launched by the first device's host:
  // it begins when all of them are ready. Returns its end.
  Nanoseconds together(const std::vector<int>& devices, Nanoseconds duration);
  // When the stream will have ended all that it was given.
  Nanoseconds tail(int device, int stream) const;
  // The same, but not before the host's present: when an operation without duration, launched now, would run.
  Nanoseconds now(int device, int stream) const;
  // What the stream is given from now on begins no earlier than that (cudaStreamWaitEvent).
  void hold_up(int device, int stream, Nanoseconds until);
  // The tail of all streams of a device.
  Nanoseconds tail_of_all(int device) const;

  // Something real happened at that instant and the host, which waited for it, goes on.
  void join_host(int device, Nanoseconds instant);
  // The host computes for that long in the modelled program.
  void spend_host(int device, Nanoseconds duration);
  // Blocks the calling thread until the instant has come, and moves the host's clock there.
  void wait(int device, Nanoseconds until);

  // Between batches of the window.
  void next_batch();
  // The arrival of a real transfer is known no better than that.
  void uncertain_arrival(Nanoseconds by);
  // How late the real clock was. A host that waits for the end of kernels catches up with its virtual clock,
  // and instants don't depend on how late it was before: so of each batch the wait() at which it was closest
  // counts.
  struct Lag {
    Nanoseconds median = 0, worst = 0;  // over batches; over waits where next_batch() was never called
    Nanoseconds median_uncertain = 0;   // over batches: the sum of uncertain_arrival()
    int64_t waits = 0;
  };
  Lag lag() const;
  // All host clocks join the real one, and the lag so far is forgotten: at the window's start.
  void begin_again();

 private:
  struct Device {
    Nanoseconds host = 0;
    Nanoseconds tails[kStreams] = {};
  };
  mutable std::mutex mutex_;  // streams are launched to by several threads
  std::vector<Device> devices_;
  const Nanoseconds launch_cost_;
  std::vector<Nanoseconds> waits_, batches_, uncertain_;  // lags; uncertain_: by batch
  Nanoseconds uncertain_now_ = 0;                         // of the batch under way
  size_t counted_ = 0;                                    // waits that batches_ holds
};

}  // namespace bench
