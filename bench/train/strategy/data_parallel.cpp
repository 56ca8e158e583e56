// data_parallel: torch.nn.DataParallel's semantics in one process. Each batch is scattered over the devices,
// the first device's weights and buffers are broadcast to the replicas, forward and backward run in a thread
// per device, logits are gathered on the first device and gradients reduced to it. Replica 0 is the model
// itself, so only its running statistics (of its share of the batch) are kept, as in PyTorch.
#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>

#include "bench/train/strategy/strategy.h"
#include "bench/train/strategy/worker_thread.h"

namespace bench {
namespace {

class DataParallel : public Strategy {
 public:
  explicit DataParallel(const StrategyContext& context)
      : model_(context.model),
        precision_(context.precision),
        device_(context.device.torch_device()),
        accelerator_(context.device.accelerator()),
        devices_(context.row.devices) {
    const int threads = int(context.row.intra_op_threads);
    for (int64_t i = 1; i < devices_; ++i) {
      auto replica = make_model(context.row);
      replica->to(place_of(i), context.row.channels_last);
      precision_.convert(*replica);
      if (accelerator_) accelerator_->prepare(*replica);
      replicas_.push_back(std::move(replica));
      workers_.push_back(std::make_unique<WorkerThread>([this, threads, i] {
        at::set_num_threads(threads);
        if (accelerator_) accelerator_->enter(i);
      }));
    }
    std::vector<Model*> models;
    for (int64_t i = 0; i < devices_; ++i) models.push_back(&model(i));
    if (accelerator_) exchange_ = accelerator_->make_exchange(models);
    if (!exchange_) exchange_ = make_plain_exchange(models);
    inputs_.resize(devices_);
    outputs_.resize(devices_);
    intervals_.resize(devices_);
  }

  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
    clock.enter(Phase::scatter);
    scatter(images);
    clock.enter(Phase::broadcast);
    exchange_->broadcast();
    clock.enter(Phase::forward);
    on_every_device(Phase::forward,
                    [this](int64_t i) { outputs_[i] = precision_.forward(model(i), inputs_[i]); });
    clock.enter(Phase::gather);
    // The autograd graph is cut at the gathered logits; each device's backward starts in its own thread from
    // its share of their gradient.
    std::vector<at::Tensor> parts;
    for (const at::Tensor& output : outputs_) parts.push_back(output.detach().to(device_));
    logits_ = at::cat(parts).set_requires_grad(true);
    return logits_;
  }

  void backward(const at::Tensor& loss, PhaseClock& clock) override {
    loss.backward();
    const at::Tensor gradient = logits_.grad();
    // All are copied before any device computes, as in PyTorch: behind the first device's backward pass, a
    // copy from it would wait for all of that.
    std::vector<at::Tensor> shares;
    for (int64_t i = 0; i < devices_; ++i)
      shares.push_back(gradient.narrow(0, first_image_[i], outputs_[i].size(0)).to(outputs_[i].device()));
    on_every_device(Phase::backward, [&](int64_t i) { outputs_[i].backward(shares[size_t(i)]); });
    clock.enter(Phase::reduce);
    exchange_->reduce();
  }

  void use_batch_statistics(bool on) override {
    for (int64_t i = 0; i < devices_; ++i) model(i).use_batch_statistics(on);
  }

  std::vector<std::vector<PhaseClock::Interval>> device_intervals() const override {
    std::vector<std::vector<PhaseClock::Interval>> devices;
    for (const auto& phases : intervals_) devices.emplace_back(phases.begin(), phases.end());
    return devices;
  }

 private:
  at::Device place_of(int64_t replica) const {
    return accelerator_ ? accelerator_->of_replica(replica) : device_;
  }
  Model& model(int64_t device) { return device == 0 ? model_ : *replicas_[device - 1]; }

  // As torch.chunk: ceil(n / devices) images per device, the last one gets the rest.
  void scatter(const at::Tensor& images) {
    const int64_t total = images.size(0), chunk = (total + devices_ - 1) / devices_;
    first_image_.assign(devices_, 0);
    for (int64_t i = 0; i < devices_; ++i) {
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

  void on_every_device(Phase phase, const std::function<void(int64_t)>& compute) {
    const auto task = [&](int64_t i) {
      PhaseClock::Interval& interval = intervals_[i][phase == Phase::backward];
      interval = {phase, std::chrono::steady_clock::now(), {}};
      compute(i);
      interval.end = std::chrono::steady_clock::now();
    };
    for (int64_t i = 1; i < devices_; ++i) workers_[i - 1]->start([&task, i] { task(i); });
    std::exception_ptr error;
    try {
      task(0);
    } catch (...) {
      error = std::current_exception();  // wait first: the other threads still use `task`
    }
    for (auto& worker : workers_) try {
        worker->wait();
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    if (error) std::rethrow_exception(error);
  }

  Model& model_;
  Precision& precision_;
  const at::Device device_;
  const Accelerator* const accelerator_;  // null: all replicas are on device_
  const int64_t devices_;
  std::vector<std::unique_ptr<Model>> replicas_;
  std::vector<std::unique_ptr<WorkerThread>> workers_;
  std::unique_ptr<ReplicaExchange> exchange_;
  std::vector<at::Tensor> inputs_, outputs_;
  std::vector<int64_t> first_image_;
  std::vector<std::array<PhaseClock::Interval, 2>> intervals_;  // [device]: forward, backward of this batch
  at::Tensor logits_;
};

const bool registered_strategy_data_parallel = StrategyRegistry::instance().add(
    {"strategy",
     "data_parallel",
     "one process, a thread and a replica per device (torch.nn.DataParallel's semantics)",
     {.process_per_device = false, .several_devices = true}},
    [](const StrategyContext& context) { return std::make_unique<DataParallel>(context); });

}  // namespace
}  // namespace bench
