// O0: everything in float32.
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class O0 : public Precision {
 public:
  explicit O0(const PrecisionOptions& options) : Precision(options, at::kFloat) {}

 private:
  at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const override {
    return model.forward(x, part);
  }
};

const bool registered_precision_o0 = PrecisionRegistry::instance().add(
    {"precision", "o0", "float32 weights, activations and optimizer"},
    [](const PrecisionOptions& options) { return std::make_unique<O0>(options); });

}  // namespace
}  // namespace bench
