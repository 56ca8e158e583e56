// The interface of parallelisation strategies: how a row uses its devices. Each strategy is one file in this
// folder.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/train/backend/group.h"
#include "bench/train/clock/phase_clock.h"
#include "bench/train/device/device.h"
#include "bench/train/model/model.h"
#include "bench/train/precision/precision.h"
#include "harness/contract/row.h"

namespace bench {

struct StrategyContext {
  const harness::Row& row;
  Model& model;  // already converted by the precision; updated by the optimizer
  Precision& precision;
  Device& device;
  Group& group;
};

// Called from the training thread. forward() and backward() enter the phases of the strategy; the caller
// enters the next phase. With several processes constructor, forward() and backward() are collective.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // images: this process's batch on its first device, N x 3 x H x W (type: see DeviceBatch). Returns float32
  // logits, N x classes, in the order of the images, attached to the autograd graph. Enters scatter,
  // broadcast, forward, gather (those that the strategy has).
  virtual at::Tensor forward(const at::Tensor& images, PhaseClock& clock) = 0;
  // loss: scalar, mean over this process's batch, already scaled by the precision. Afterwards the model's
  // gradients are those of the mean over the global batch (with the loss scale). Called in phase backward;
  // enters reduce or sync.
  virtual void backward(const at::Tensor& loss, PhaseClock& clock) = 0;
  // Batch norm of every replica uses batch statistics (true) or running statistics (false, for gradient
  // checks).
  virtual void use_batch_statistics(bool on) = 0;
  // Whether the next forward() and backward() end with reduced gradients (the default), or add to those of
  // this process alone, as in PyTorch's DistributedDataParallel.no_sync(). Strategies with one process always
  // reduce.
  virtual void reduce_next(bool /*on*/) {}
  // The phases of each device in the last batch, for the timeline; empty unless one process has several
  // devices.
  virtual std::vector<std::vector<PhaseClock::Interval>> device_intervals() const { return {}; }
  // Facts for the record, e.g. the buckets.
  virtual nlohmann::json describe() const { return nlohmann::json::object(); }
};

// Traits: "process_per_device": true if each device has its own process; "several_devices": true if it
// supports more than one device.
using StrategyFactory = std::function<std::unique_ptr<Strategy>(const StrategyContext&)>;
using StrategyRegistry = Registry<StrategyFactory>;

}  // namespace bench
