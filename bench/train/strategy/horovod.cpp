// horovod: reimplements the semantics of Horovod's DistributedOptimizer; the package is not used. A hook on
// each gradient enqueues it in the engine (fusion.h); after backward the training thread waits until every
// gradient is the mean over all ranks. Buffers are not synchronised after the start: each rank keeps its own
// running statistics.
#include "bench/train/strategy/fusion.h"
#include "bench/train/strategy/rank_strategy.h"

namespace bench {
namespace {

// On an emulated device in its time, but at least 1 ms where the row has that: negotiations take the cores
// that emulate.
double cycle_ms(const StrategyContext& context) {
  const double asked = context.row.cycle_ms;
  return std::max(asked * context.device.time_stretch(), std::min(asked, 1.0));
}

class Horovod : public RankStrategy {
 public:
  explicit Horovod(const StrategyContext& context)
      : RankStrategy(context),
        engine_(shared_group(context.group.separate_process_group()), parameters_.size(),
                {int64_t(row_.fusion_mib * 1048576), cycle_ms(context), context.device.torch_device()}),
        hooks_(parameters_, [this](size_t parameter) {
          engine_.enqueue(parameter, parameters_[parameter].grad());
          if (++ready_ == parameters_.size()) clock_->enter(Phase::sync);
        }) {
    broadcast_initial_state();
  }

  void backward(const at::Tensor& loss, PhaseClock& clock) override {
    ready_ = 0;
    clock_ = &clock;
    loss.backward();
    engine_.wait();
  }

  nlohmann::json describe() const override {
    nlohmann::json buckets = nlohmann::json::array();
    for (const Fusion::Message& message : engine_.messages())
      buckets.push_back({{"bytes", message.bytes}, {"parameters", message.tensors}});
    return {{"buckets", buckets},  // of the last batch; they vary between batches
            {"negotiations", engine_.negotiations()},
            {"semantics", "Horovod's DistributedOptimizer"}};
  }

 private:
  size_t ready_ = 0;
  Fusion engine_;
  GradientHooks hooks_;
};

const bool registered_strategy_horovod = StrategyRegistry::instance().add(
    {"strategy",
     "horovod",
     "a process per device, gradients fused when every rank has them (Horovod's semantics)",
     {.process_per_device = true, .several_devices = true}},
    [](const StrategyContext& context) { return std::make_unique<Horovod>(context); });

}  // namespace
}  // namespace bench
