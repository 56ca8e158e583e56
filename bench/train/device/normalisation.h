// Scale and shift of the image normalisation as tensors.
#pragma once
#include <ATen/ops/tensor.h>

#include "bench/image/batch_format.h"

namespace bench {

// normalised = pixel * scale + shift (see batch_format.h); both 1 x 3 x 1 x 1, float32, on `device`.
struct Normalisation {
  explicit Normalisation(at::Device device)
      : scale(of_channels(normalise_scale).to(device)), shift(of_channels(normalise_shift).to(device)) {}
  at::Tensor scale, shift;

 private:
  static at::Tensor of_channels(float (*value)(int)) {
    return at::tensor({value(0), value(1), value(2)}, at::kFloat).view({1, 3, 1, 1});
  }
};

}  // namespace bench
