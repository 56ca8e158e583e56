// bf16: autocast to bfloat16 without loss scaling, which its exponent range makes unnecessary.
#include "bench/train/precision/precision.h"

namespace bench {

static const bool registered_precision_bf16 = PrecisionRegistry::instance().add(
    {"precision", "bf16", "autocast: bfloat16 operators on float32 weights, no scaler"},
    [](const PrecisionOptions& options) {
      return std::make_unique<Precision>(options, sixteen_bit_type(options.device, at::kBFloat16),
                                         Precision::Mode{.autocast = true});
    });

}  // namespace bench
