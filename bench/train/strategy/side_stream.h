// A second stream of a GPU, for work beside the one that computes, and the order between the two. On a CPU,
// which computes while its caller waits, none of this does anything.
#pragma once
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <optional>

namespace bench {

class SideStream {
 public:
  explicit SideStream(const c10::Device& device);
  // As long as the guard lives, what the calling thread gives to the device goes to this stream.
  c10::OptionalStreamGuard enter() const { return c10::OptionalStreamGuard(stream_); }
  // What this stream is given from now on waits for what the calling thread's current stream has been given
  // so far. One thread at a time.
  void wait_for_current();
  // The other way round. One thread at a time.
  void hold_up_current();

 private:
  std::optional<c10::Stream> stream_;
  std::optional<c10::Event> theirs_, ours_;
};

}  // namespace bench
