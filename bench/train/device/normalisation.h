// The normalisation of images as LibTorch's operators take it.
#pragma once
#include <ATen/ops/tensor.h>

#include "bench/image/batch_format.h"

namespace bench {

// ImageNet's mean and deviation as factor and summand of each channel, on a device.
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
