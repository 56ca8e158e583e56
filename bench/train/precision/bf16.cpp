// bf16: autocast to bfloat16 without loss scaling, which its exponent range makes unnecessary.
#include "bench/train/precision/autocast.h"
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class Bf16 : public Precision {
 public:
  explicit Bf16(const PrecisionOptions& options)
      : device_(options.device),
        type_(sixteen_bit_type(options.device, at::kBFloat16)),
        optimizer_(make_optimizer(options.optimizer)) {}
  at::ScalarType image_type() const override { return type_; }
  void step(Model& model) override {
    optimizer_->step(model.parameter_tensors(), model.gradient_tensors());
    model.clear_gradients();
  }
  std::string sixteen_bit() const override { return type_name(type_); }

 private:
  at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const override {
    Autocast autocast(device_.type(), type_);
    return model.forward(x, part);
  }

  at::Device device_;
  at::ScalarType type_;
  std::unique_ptr<Optimizer> optimizer_;
};

const bool registered_precision_bf16 = PrecisionRegistry::instance().add(
    {"precision", "bf16", "autocast: bfloat16 operators on float32 weights, no scaler"},
    [](const PrecisionOptions& options) { return std::make_unique<Bf16>(options); });

}  // namespace
}  // namespace bench
