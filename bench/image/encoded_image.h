// What a storage gives for one record.
#pragma once
#include <cstdint>
#include <span>

namespace bench {

struct EncodedImage {
  std::span<const uint8_t> bytes;  // JPEG (or PNG) as stored; with a raw_width RGB pixels, rows top to bottom
  int64_t label = 0;
  int raw_width = 0, raw_height = 0;  // both 0: encoded; else bytes.size() is raw_width x raw_height x 3
};

}  // namespace bench
