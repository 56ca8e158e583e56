// O0: everything in float32.
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class O0 : public Precision {
 public:
  explicit O0(const PrecisionOptions& options) : sgd_(options.sgd) {}
  at::Tensor forward(ResNet& model, const at::Tensor& images) const override { return model.forward(images); }
  void step(ResNet& model) override {
    sgd_.step(model.parameter_tensors(), model.gradient_tensors());
    model.clear_gradients();
  }

 private:
  Sgd sgd_;
};

const bool registered_precision_o0 = PrecisionRegistry::instance().add(
    {"precision", "o0", "float32 weights, activations and optimizer"},
    [](const PrecisionOptions& options) { return std::make_unique<O0>(options); });

}  // namespace
}  // namespace bench
