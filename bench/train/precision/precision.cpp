// Chooses float16 or bfloat16 for a device, and names number types as the records do.
#include "bench/train/precision/precision.h"

#include "bench/train/precision/in_float32.h"

namespace bench {

at::ScalarType sixteen_bit_type(const at::Device& device, at::ScalarType on_gpus) {
  if (!device.is_cpu()) return on_gpus;
  computes_in_float32();  // from now on, if it must
  return at::kBFloat16;
}

const char* type_name(at::ScalarType type) {
  return type == at::kBFloat16 ? "bfloat16"
         : type == at::kHalf   ? "float16"
         : type == at::kDouble ? "float64"
         : type == at::kLong   ? "int64"
                               : "float32";
}

}  // namespace bench
