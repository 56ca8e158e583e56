// bf16: autocast to bfloat16 without loss scaling, which its exponent range makes unnecessary.
#include "bench/train/precision/autocast.h"
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class Bf16 : public Precision {
 public:
  explicit Bf16(const PrecisionOptions& options)
      : device_(options.device), optimizer_(make_optimizer(options.optimizer)) {}
  at::ScalarType image_type() const override { return at::kBFloat16; }
  void step(Model& model) override {
    optimizer_->step(model.parameter_tensors(), model.gradient_tensors());
    model.clear_gradients();
  }
  std::string sixteen_bit() const override { return type_name(at::kBFloat16); }

 private:
  at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const override {
    Autocast autocast(device_.type(), at::kBFloat16);
    return model.forward(x, part);
  }

  at::Device device_;
  std::unique_ptr<Optimizer> optimizer_;
};

const bool registered_precision_bf16 = PrecisionRegistry::instance().add(
    {"precision", "bf16", "autocast: bfloat16 operators on float32 weights, no scaler"},
    [](const PrecisionOptions& options) { return std::make_unique<Bf16>(options); });

}  // namespace
}  // namespace bench
