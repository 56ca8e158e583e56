// Reads PNG files with libpng. They are rare, so this path is not optimised as for JPEG.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/image/decode.h"

namespace bench {

bool is_png(std::span<const uint8_t> encoded);
// Throws BadImage for an incomplete header or a size above kMostPixels.
ImageSize png_size(std::span<const uint8_t> encoded);
// Calls add_row() with each row of the box, top to bottom: R, G, B, unused per pixel (uint8). Ignores alpha,
// gamma and colour profiles, as Pillow's convert("RGB"). Grows `buffer` to one row, or to the whole image if
// interlaced. Reads the whole file, so damage anywhere throws BadImage. add_row() must not throw.
void decode_png(std::span<const uint8_t> encoded, const CropBox& box, std::vector<uint8_t>& buffer,
                const std::function<void(const uint8_t*)>& add_row);

}  // namespace bench
