#include "bench/precision/precision.h"

#include <stdexcept>

namespace bench {

at::ScalarType sixteen_bit_type(const at::Device& device) {
  return device.is_cpu() ? at::kBFloat16 : at::kHalf;
}

const char* type_name(at::ScalarType type) {
  return type == at::kBFloat16 ? "bfloat16"
         : type == at::kHalf   ? "float16"
         : type == at::kDouble ? "float64"
         : type == at::kLong   ? "int64"
                               : "float32";
}

std::vector<at::Tensor> gradients_of(const ResNet& model) {
  std::vector<at::Tensor> gradients;
  gradients.reserve(model.parameters().size());
  for (const NamedTensor& parameter : model.parameters()) {
    if (!parameter.tensor.grad().defined()) throw std::logic_error("no gradient for " + parameter.name);
    gradients.push_back(parameter.tensor.grad());
  }
  return gradients;
}

}  // namespace bench
