// Makes four recordings at a batch buffer's first use: forward, loss, backward and optimizer step.
#include "bench/train/captured_step.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <stdexcept>

#include "bench/train/validation.h"

namespace bench {

CapturedStep::Place& CapturedStep::place_of(const DeviceBatch& data) {
  Place& place = places_[data.images.const_data_ptr()];
  if (place.forward) return place;
  const auto record = [&](std::unique_ptr<Recording>& recording, const std::function<void()>& work) {
    recording = parts_.device.make_recording();
    if (!recording)
      throw std::runtime_error("cuda_graphs: device " + parts_.row.device +
                               " doesn't support recording; set cuda_graphs=false");
    recording->record(work);
  };
  record(place.forward,
         [this, &place, data] { place.logits = parts_.strategy.forward(data.images, unused_); });
  record(place.loss, [&place, data] {
    place.loss_value = at::cross_entropy_loss(place.logits, data.labels);
    place.metrics = metrics_of(place.loss_value, place.logits, data.labels);
  });
  record(place.backward, [this, &place] {
    parts_.strategy.backward(parts_.precision.scale_loss(place.loss_value), unused_);
  });
  record(place.step, [this] { parts_.precision.step(parts_.model); });
  place.logits.reset();
  place.loss_value.reset();
  return place;
}

at::Tensor CapturedStep::run(const DeviceBatch& data, PhaseClock& clock, bool read) {
  clock.enter(Phase::forward);
  Place& place = place_of(data);
  place.forward->replay();
  clock.enter(Phase::loss);
  place.loss->replay();
  clock.enter(Phase::backward);
  place.backward->replay();
  clock.enter(Phase::step);
  place.step->replay();
  clock.enter(Phase::loss);
  return read ? parts_.device.read(place.metrics) : place.metrics.clone();
}

}  // namespace bench
