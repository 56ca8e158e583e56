// O0: everything in float32.
#include "bench/train/precision/precision.h"

namespace bench {

static const bool registered_precision_o0 = PrecisionRegistry::instance().add(
    {"precision", "o0", "float32 weights, activations and optimizer"}, [](const PrecisionOptions& options) {
      return std::make_unique<Precision>(options, at::kFloat, Precision::Mode{});
    });

}  // namespace bench
