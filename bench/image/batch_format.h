// What the loader hands over: one row field, `batch_format`.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench {

enum class BatchFormat {
  float32,        // normalised with ImageNet's mean and deviation, batch x 3 x side x side
  channels_last,  // the same values as batch x side x side x 3
  uint8           // pixels 0 to 255 as batch x side x side x 3, for a device that normalises them itself
};

inline BatchFormat batch_format(const std::string& name) {
  if (name == "float32") return BatchFormat::float32;
  if (name == "channels_last") return BatchFormat::channels_last;
  if (name == "uint8") return BatchFormat::uint8;
  throw std::invalid_argument("batch_format " + name + ": expected float32, channels_last or uint8");
}

// Of the pixel values 0 to 255, as torchvision's ToTensor and Normalize with ImageNet's mean and deviation:
// normalised = pixel * scale + shift.
constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kDeviation[3] = {0.229f, 0.224f, 0.225f};
constexpr float normalise_scale(int channel) { return 1 / (255 * kDeviation[channel]); }
constexpr float normalise_shift(int channel) { return -kMean[channel] / kDeviation[channel]; }

inline int64_t bytes_per_image(BatchFormat format, int64_t side) {
  return 3 * side * side * (format == BatchFormat::uint8 ? 1 : 4);
}

}  // namespace bench
