// single: one device, one process; the baseline for all other strategies.
#include "bench/train/strategy/strategy.h"

namespace bench {
namespace {

class Single : public Strategy {
 public:
  explicit Single(const StrategyContext& context) : model_(context.model), precision_(context.precision) {}
  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
    clock.enter(Phase::forward);
    return precision_.forward(model_, images);
  }
  void backward(const at::Tensor& loss, PhaseClock&) override { loss.backward(); }
  void use_batch_statistics(bool on) override { model_.use_batch_statistics(on); }

 private:
  Model& model_;
  Precision& precision_;
};

const bool registered_strategy_single = StrategyRegistry::instance().add(
    {"strategy", "single", "one device", {.process_per_device = false, .several_devices = false}},
    [](const StrategyContext& context) { return std::make_unique<Single>(context); });

}  // namespace
}  // namespace bench
