#include "bench/train/precision/precision.h"

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

}  // namespace bench
