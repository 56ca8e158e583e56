// O1: float32 weights, 16-bit operators by autocast, dynamic loss scaling.
#include "bench/train/optimizer/grad_scaler.h"
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class O1 : public Precision {
 public:
  explicit O1(const PrecisionOptions& options)
      : Precision(options, sixteen_bit_type(options.device)), scaler_(options.device) {}
  at::Tensor scale_loss(const at::Tensor& loss) const override { return scaler_.scale(loss); }
  void step(Model& model) override {
    const auto gradients = model.gradient_tensors();
    scaler_.unscale(gradients);
    optimizer_->step(model.parameter_tensors(), gradients, scaler_.found_inf());
    scaler_.update();
    model.clear_gradients();
  }

 private:
  at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const override {
    return forward_with_autocast(model, x, part);
  }

  GradScaler scaler_;
};

const bool registered_precision_o1 = PrecisionRegistry::instance().add(
    {"precision", "o1", "autocast: 16-bit operators on float32 weights, gradient scaler"},
    [](const PrecisionOptions& options) { return std::make_unique<O1>(options); });

}  // namespace
}  // namespace bench
