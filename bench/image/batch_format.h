// The layout and dtype of the loader's batches: the row field `batch_format`.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench {

enum class BatchFormat {
  float32,        // normalised with ImageNet's mean and standard deviation, NCHW
  channels_last,  // the same values, NHWC
  uint8           // pixels 0 to 255, NHWC, for a device that normalises them itself
};

// Throws std::invalid_argument for an unknown name.
inline BatchFormat batch_format(const std::string& name) {
  if (name == "float32") return BatchFormat::float32;
  if (name == "channels_last") return BatchFormat::channels_last;
  if (name == "uint8") return BatchFormat::uint8;
  throw std::invalid_argument("batch_format " + name + ": expected float32, channels_last or uint8");
}

// normalised = pixel * scale + shift for pixel values 0 to 255: torchvision's ToTensor followed by Normalize
// with ImageNet's mean and standard deviation.
constexpr float kMean[3] = {0.485f, 0.456f, 0.406f}, kDeviation[3] = {0.229f, 0.224f, 0.225f};
constexpr float normalise_scale(int channel) { return 1 / (255 * kDeviation[channel]); }
constexpr float normalise_shift(int channel) { return -kMean[channel] / kDeviation[channel]; }

inline int64_t bytes_per_image(BatchFormat format, int64_t side) {
  return 3 * side * side * (format == BatchFormat::uint8 ? 1 : 4);
}

}  // namespace bench
