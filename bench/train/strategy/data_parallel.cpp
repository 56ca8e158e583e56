// Keeps one thread and one copy of the network per device, and cuts the autograd graph between the devices.
#include "bench/train/strategy/data_parallel.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>

namespace bench {

DataParallel::DataParallel(const StrategyContext& context, int64_t stages)
    : device_(context.device.torch_device()), accelerator_(context.device.accelerator()) {
  const int64_t count = context.row.devices / stages;
  const int threads = int(context.row.intra_op_threads);
  models_.push_back(&context.model);
  for (int64_t i = 1; i < count; ++i) {
    auto replica = make_model(context.row);
    replica->to(place_of(i), context.row.channels_last);
    context.precision.convert(*replica);
    if (accelerator_) accelerator_->prepare(*replica);
    models_.push_back(replica.get());
    copies_.push_back(std::move(replica));
    workers_.push_back(std::make_unique<WorkerThread>([this, threads, i] {
      at::set_num_threads(threads);
      if (accelerator_) accelerator_->enter(i);
    }));
  }
  for (int64_t i = 0; i < count; ++i)
    replicas_.push_back(stages == 1 ? make_whole_replica(context, *models_[size_t(i)])
                                    : make_split_replica(context, *models_[size_t(i)], place_of(count + i),
                                                         /*number=*/count + i));
  if (accelerator_) exchange_ = accelerator_->make_exchange(models_);
  if (!exchange_) exchange_ = make_plain_exchange(models_);
  inputs_.resize(replicas_.size());
  outputs_.resize(replicas_.size());
  first_image_.resize(replicas_.size());
}

at::Tensor DataParallel::forward(const at::Tensor& images, PhaseClock& clock) {
  clock.enter(Phase::scatter);
  scatter(images);
  clock.enter(Phase::broadcast);
  exchange_->broadcast();
  clock.enter(Phase::forward);
  on_every_replica([this](size_t i) { outputs_[i] = replicas_[i]->forward(inputs_[i]); });
  clock.enter(Phase::gather);
  // The autograd graph is cut at the gathered logits; each replica's backward starts in its own thread from
  // its share of their gradient.
  std::vector<at::Tensor> parts;
  for (const at::Tensor& output : outputs_) parts.push_back(output.to(device_));
  logits_ = at::cat(parts).set_requires_grad(true);
  return logits_;
}

void DataParallel::backward(const at::Tensor& loss, PhaseClock& clock) {
  loss.backward();
  const at::Tensor gradient = logits_.grad();
  // All are copied before any device computes, as in PyTorch: behind the first device's backward pass, a copy
  // from it would wait for all of that.
  std::vector<at::Tensor> shares;
  for (size_t i = 0; i < outputs_.size(); ++i)
    shares.push_back(gradient.narrow(0, first_image_[i], outputs_[i].size(0)).to(outputs_[i].device()));
  on_every_replica([&](size_t i) { replicas_[i]->backward(shares[i]); });
  clock.enter(Phase::reduce);
  exchange_->reduce();
}

void DataParallel::use_batch_statistics(bool on) {
  for (Model* model : models_) model->use_batch_statistics(on);
}

std::vector<std::vector<PhaseClock::Interval>> DataParallel::device_intervals() const {
  const size_t stages = replicas_[0]->intervals().size();
  std::vector<std::vector<PhaseClock::Interval>> devices;
  for (size_t stage = 0; stage < stages; ++stage)
    for (const auto& replica : replicas_) devices.push_back(replica->intervals()[stage]);
  return devices;
}

// As torch.chunk: ceil(n / replicas) images per replica, the last one gets the rest.
void DataParallel::scatter(const at::Tensor& images) {
  const int64_t count = int64_t(replicas_.size()), total = images.size(0),
                chunk = (total + count - 1) / count;
  for (int64_t i = 0; i < count; ++i) {
    first_image_[i] = std::min(i * chunk, total);
    const at::Tensor share = images.narrow(0, first_image_[i], std::min(chunk, total - first_image_[i]));
    if (i == 0) {
      inputs_[i] = share;  // already on the first device
      continue;
    }
    if (!inputs_[i].defined() || inputs_[i].sizes() != share.sizes())
      inputs_[i] = at::empty_like(share, share.options().device(place_of(i)));
    inputs_[i].copy_(share, /*non_blocking=*/true);
  }
}

void DataParallel::on_every_replica(const std::function<void(size_t)>& compute) {
  for (size_t i = 1; i < replicas_.size(); ++i) workers_[i - 1]->start([&compute, i] { compute(i); });
  std::exception_ptr error;
  try {
    compute(0);
  } catch (...) {
    error = std::current_exception();  // wait first: the other threads still use `compute`
  }
  for (auto& worker : workers_) try {
      worker->wait();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  if (error) std::rethrow_exception(error);
}

static const bool registered_strategy_data_parallel = StrategyRegistry::instance().add(
    {"strategy",
     "data_parallel",
     "one process, a thread and a replica per device (torch.nn.DataParallel's semantics)",
     {.process_per_device = false, .several_devices = true}},
    [](const StrategyContext& context) { return std::make_unique<DataParallel>(context, /*stages=*/1); });

}  // namespace bench
