// Encodes planes as the JPEG files of ImageNet.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

// Y, Cb and Cr planes, uint8; rows and columns are padded to a multiple of 16.
struct Planes {
  int width = 0, height = 0;
  bool half_chroma = false;  // 4:2:0: Cb and Cr have half the size
  std::array<std::vector<uint8_t>, 3> data;
  std::array<int, 3> stride{};
};

class JpegEncoder {
 public:
  // `every`: encodes only every n-th band of rows, to estimate the size of the whole. The result is valid
  // until the next call. Throws std::runtime_error if libjpeg fails.
  std::span<const uint8_t> encode(const Planes& planes, int quality, int every = 1);

 private:
  std::vector<uint8_t> buffer_;
};

}  // namespace bench
