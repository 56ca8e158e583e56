// Records and replays the training step after the copy to the device (row field `cuda_graphs`): the host
// makes four calls instead of launching several hundred kernels.
#pragma once
#include <map>

#include "bench/train/slice.h"

namespace bench {

// Forward, loss, backward and optimizer are separate recordings, so that their phases can be timed.
class CapturedStep {
 public:
  explicit CapturedStep(const SliceParts& parts) : parts_(parts) {}

  // True for the first three calls: these steps run without recording, so that persistent state (momenta,
  // master weights, cuDNN's choice of algorithms) is not created inside a recording.
  bool runs_as_always() { return as_always_ > 0 && as_always_-- > 0; }

  // Runs one step; records it if the batch's memory is new. Enters forward, loss, backward and step, then
  // `loss` again to fetch the metrics; with `read` the host waits for them. Returns a copy of metrics_of()
  // the batch.
  at::Tensor run(const DeviceBatch& data, PhaseClock& clock, bool read);

  int64_t recordings() const { return int64_t(places_.size()); }

 private:
  // Recordings use fixed memory: one set per device buffer.
  struct Place {
    std::unique_ptr<Recording> forward, loss, backward, step;
    at::Tensor logits, loss_value, metrics;  // logits, loss_value: only during recording
  };
  Place& place_of(const DeviceBatch& data);

  SliceParts parts_;
  PhaseClock unused_{1, false};  // disabled: recording is not timed
  std::map<const void*, Place> places_;
  int as_always_ = 3;
};

}  // namespace bench
