// O3: everything in 16 bit, batch norm and optimizer included, no loss scaling (APEX: static scale 1).
#include "bench/train/precision/precision.h"

namespace bench {
namespace {

class O3 : public Precision {
 public:
  explicit O3(const PrecisionOptions& options) : Precision(options, sixteen_bit_type(options.device), {}) {}
  void convert(Model& model) const override {
    for (size_t i = 0; i < model.parameters().size(); ++i) model.convert(i, type_);
    for (const NamedTensor& buffer : model.buffers())
      if (buffer.tensor.is_floating_point()) at::Tensor(buffer.tensor).set_data(buffer.tensor.to(type_));
  }
};

const bool registered_precision_o3 = PrecisionRegistry::instance().add(
    {"precision", "o3", "16-bit weights, activations and optimizer"},
    [](const PrecisionOptions& options) { return std::make_unique<O3>(options); });

}  // namespace
}  // namespace bench
