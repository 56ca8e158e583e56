// A second GPU stream for work parallel to the compute stream, and synchronisation between the two. On a CPU
// all members do nothing.
#pragma once
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <optional>

namespace bench {

class SideStream {
 public:
  explicit SideStream(const c10::Device& device);
  // Makes this stream the calling thread's current stream during the guard's lifetime.
  c10::OptionalStreamGuard enter() const { return c10::OptionalStreamGuard(stream_); }
  // Later work in this stream waits for the work enqueued so far in the calling thread's current stream. Not
  // thread-safe.
  void wait_for_current();
  // Later work in the calling thread's current stream waits for this stream. Not thread-safe.
  void hold_up_current();

 private:
  std::optional<c10::Stream> stream_;
  std::optional<c10::Event> theirs_, ours_;
};

}  // namespace bench
