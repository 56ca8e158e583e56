// What a number format costs: bytes of weights and activations, by its name in a row.
#pragma once
#include <algorithm>
#include <array>
#include <string>

namespace harness {

struct PrecisionTraits {
  const char* name;
  int weight_bytes;      // also of gradients, and so of all-reduces; batch norm's few aside
  int activation_bytes;  // also of images on the device
  bool scales_loss;      // dynamically: the host waits in phase step for the scaler's answer

  bool sixteen_bit() const { return activation_bytes == 2; }
};

// A test compares it with what train_slice's formats do.
inline constexpr std::array kPrecisions = {
    PrecisionTraits{"o0", 4, 4, false}, PrecisionTraits{"o1", 4, 2, true}, PrecisionTraits{"o2", 2, 2, true},
    PrecisionTraits{"o3", 2, 2, false}, PrecisionTraits{"bf16", 4, 2, false}};

// float32's for a name that is none of this version.
inline const PrecisionTraits& precision_traits(const std::string& name) {
  const auto found = std::ranges::find_if(kPrecisions, [&](const auto& one) { return one.name == name; });
  return found == kPrecisions.end() ? kPrecisions[0] : *found;
}

}  // namespace harness
