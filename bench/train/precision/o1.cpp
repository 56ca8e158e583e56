// O1: float32 weights, 16-bit operators by autocast, dynamic loss scaling.
#include "bench/train/precision/precision.h"

namespace bench {

static const bool registered_precision_o1 = PrecisionRegistry::instance().add(
    {"precision", "o1", "autocast: 16-bit operators on float32 weights, gradient scaler"},
    [](const PrecisionOptions& options) {
      return std::make_unique<Precision>(options, sixteen_bit_type(options.device),
                                         Precision::Mode{.autocast = true, .scales = true});
    });

}  // namespace bench
