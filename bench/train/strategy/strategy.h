// How a row uses its devices. One strategy is one file in this folder.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/train/backend/group.h"
#include "bench/train/clock/phase_clock.h"
#include "bench/train/device/device.h"
#include "bench/train/model/resnet.h"
#include "bench/train/precision/precision.h"
#include "harness/contract/row.h"

namespace bench {

struct StrategyContext {
  const harness::Row& row;
  ResNet& model;  // already converted by the precision; what the optimizer steps
  Precision& precision;
  Device& device;
  Group& group;
  RankInfo rank;
};

// Both calls enter the phases that a strategy has of its own; the caller enters what follows.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // images: this process's whole batch on its first device, float32 NCHW. Returns float32 logits in the order
  // of the images; what backward() needs may hang on them. Enters scatter, broadcast, forward, gather.
  virtual at::Tensor forward(const at::Tensor& images, PhaseClock& clock) = 0;
  // loss: mean over this process's batch, already scaled by the precision. Leaves the gradient of the mean
  // over the global batch in the model's parameters. Called in phase backward; enters reduce or sync.
  virtual void backward(const at::Tensor& loss, PhaseClock& clock) = 0;
  // Batch norm of every replica: batch statistics, or running statistics for gradient checks.
  virtual void use_batch_statistics(bool on) = 0;
  // Where one process has several devices: each device's own phases of the last batch, to draw them.
  virtual std::vector<std::vector<PhaseClock::Interval>> device_intervals() const { return {}; }
  // For the record: bucket plan and the like.
  virtual nlohmann::json describe() const { return nlohmann::json::object(); }
};

// Traits: "process_per_device": true when each device is a process of its own.
using StrategyFactory = std::function<std::unique_ptr<Strategy>(const StrategyContext&)>;
using StrategyRegistry = Registry<StrategyFactory>;

}  // namespace bench
