// bf16: autocast to bfloat16 without loss scaling, which its exponent range makes unnecessary.
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class Bf16 : public Precision {
 public:
  explicit Bf16(const PrecisionOptions& options)
      : Precision(options, sixteen_bit_type(options.device, at::kBFloat16)) {}

 private:
  at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const override {
    return forward_with_autocast(model, x, part);
  }
};

const bool registered_precision_bf16 = PrecisionRegistry::instance().add(
    {"precision", "bf16", "autocast: bfloat16 operators on float32 weights, no scaler"},
    [](const PrecisionOptions& options) { return std::make_unique<Bf16>(options); });

}  // namespace
}  // namespace bench
