// Scale and shift of the image normalisation in GPU kernels.
#pragma once
#include "bench/image/batch_format.h"

namespace bench {

struct Affine {
  float scale, shift;
};

inline constexpr float kScale0 = normalise_scale(0), kScale1 = normalise_scale(1),
                       kScale2 = normalise_scale(2);
inline constexpr float kShift0 = normalise_shift(0), kShift1 = normalise_shift(1),
                       kShift2 = normalise_shift(2);

// Selects between immediates: an array indexed at run time would be loads from memory.
__device__ inline Affine affine_of(int channel) {
  return {channel == 0   ? kScale0
          : channel == 1 ? kScale1
                         : kScale2,
          channel == 0   ? kShift0
          : channel == 1 ? kShift1
                         : kShift2};
}

}  // namespace bench
