// What follows a batch's arrival on the device, recorded and replayed: a row's `cuda_graphs`. A step of some
// hundred kernels then costs the host four calls.
#pragma once
#include <map>

#include "bench/train/slice.h"

namespace bench {

// Forward, loss, backward and optimizer are a recording each, so that their phases can still be told apart.
class RecordedStep {
 public:
  explicit RecordedStep(const SliceParts& parts) : parts_(parts) {}

  // The next step is one of the first, which run as always, so that nothing that lasts is made inside a
  // recording: momenta, master weights, cuDNN's choice of algorithms. Counts it.
  bool runs_as_always() { return as_always_ > 0 && as_always_-- > 0; }

  // One step on a batch that lies where an earlier one did, or is then recorded. Enters forward, loss,
  // backward and step, and `loss` once more, where the metrics are taken: with `read` the host waits for
  // them, at the end of the step. Returns metrics_of() the batch, in memory of their own.
  at::Tensor run(const DeviceBatch& data, PhaseClock& clock, bool read);

  int64_t recordings() const { return int64_t(places_.size()); }

 private:
  // Recordings are of fixed memory: one for each place where the device keeps batches.
  struct Place {
    std::unique_ptr<Recording> forward, loss, backward, step;
    at::Tensor logits, loss_value, metrics;  // logits and loss_value: while they are being recorded
  };
  Place& place_of(const DeviceBatch& data);

  SliceParts parts_;
  PhaseClock unused_{1, false};  // what is being recorded takes no time that anyone should see
  std::map<const void*, Place> places_;
  int as_always_ = 3;
};

}  // namespace bench
