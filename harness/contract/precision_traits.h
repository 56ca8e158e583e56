// What a number format costs: bytes of weights and activations, by its name in a row.
#pragma once
#include <string>

namespace harness {

struct PrecisionTraits {
  const char* name;
  int weight_bytes;      // also of gradients, and so of all-reduces; batch norm's few aside
  int activation_bytes;  // also of images on the device
  bool scales_loss;      // dynamically: the host waits in phase step for the scaler's answer

  bool sixteen_bit() const { return activation_bytes == 2; }
};

// float32's for a name that is none of this version.
const PrecisionTraits& precision_traits(const std::string& name);

}  // namespace harness
