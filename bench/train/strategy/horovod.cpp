// horovod: reimplements the semantics of Horovod's DistributedOptimizer; the package is not used. A hook on
// each gradient enqueues it in the engine (fusion.h); after backward the training thread waits until every
// gradient is the mean over all ranks. Buffers are not synchronised after the start: each rank keeps its own
// running statistics.
#include "bench/train/strategy/fusion.h"
#include "bench/train/strategy/gradient_hooks.h"
#include "bench/train/strategy/initial_state.h"
#include "bench/train/strategy/strategy.h"

namespace bench {
namespace {

using GroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;

class Horovod : public Strategy {
 public:
  explicit Horovod(const StrategyContext& context)
      : model_(context.model),
        precision_(context.precision),
        parameters_(model_.parameter_tensors()),
        engine_(
            GroupPointer::unsafe_reclaim_from_nonowning(context.group.separate_process_group()),
            parameters_.size(),
            {int64_t(context.row.fusion_mib * 1048576), context.row.cycle_ms, context.device.torch_device()}),
        hooks_(parameters_, [this](size_t parameter) {
          engine_.enqueue(parameter, parameters_[parameter].grad());
          if (++ready_ == parameters_.size()) clock_->enter(Phase::sync);
        }) {
    broadcast_initial_state(GroupPointer::unsafe_reclaim_from_nonowning(context.group.process_group()),
                            model_);
  }

  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
    clock.enter(Phase::forward);
    return precision_.forward(model_, images);
  }

  void backward(const at::Tensor& loss, PhaseClock& clock) override {
    ready_ = 0;
    clock_ = &clock;
    loss.backward();
    engine_.wait();
  }

  void use_batch_statistics(bool on) override { model_.use_batch_statistics(on); }

  nlohmann::json describe() const override {
    nlohmann::json buckets = nlohmann::json::array();
    for (const Fusion::Message& message : engine_.messages())
      buckets.push_back({{"bytes", message.bytes}, {"parameters", message.tensors}});
    return {{"buckets", buckets},  // of the last batch; they vary between batches
            {"negotiations", engine_.negotiations()},
            {"semantics", "Horovod's DistributedOptimizer"}};
  }

 private:
  ResNet& model_;
  Precision& precision_;
  std::vector<at::Tensor> parameters_;
  size_t ready_ = 0;
  PhaseClock* clock_ = nullptr;  // of the current backward pass
  Fusion engine_;
  GradientHooks hooks_;
};

const bool registered_strategy_horovod = StrategyRegistry::instance().add(
    {"strategy",
     "horovod",
     "a process per device, gradients fused when every rank has them (Horovod's semantics)",
     {{"process_per_device", true}, {"several_devices", true}}},
    [](const StrategyContext& context) { return std::make_unique<Horovod>(context); });

}  // namespace
}  // namespace bench
