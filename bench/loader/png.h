// Whole PNG files through libpng: rare among the images, so without the pains taken for JPEG.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "bench/loader/decode.h"

namespace bench {

bool is_png(std::span<const uint8_t> encoded);
ImageSize png_size(std::span<const uint8_t> encoded);
// R, G, B, unused per pixel; alpha, gamma and colour profiles are ignored, as Pillow's convert("RGB") does.
void decode_png(std::span<const uint8_t> encoded, std::vector<uint8_t>& rgbx);

}  // namespace bench
