// One record as a storage returns it.
#pragma once
#include <cstdint>
#include <span>

namespace bench {

struct EncodedImage {
  std::span<const uint8_t> bytes;  // JPEG or PNG file; if raw_width > 0, uint8 RGB pixels, HWC
  int64_t label = 0;
  int raw_width = 0, raw_height = 0;  // pixels; both 0: encoded
};

}  // namespace bench
