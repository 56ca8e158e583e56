// Whole PNG files through libpng: rare among the images, so without the pains taken for JPEG.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/image/decode.h"

namespace bench {

bool is_png(std::span<const uint8_t> encoded);
ImageSize png_size(std::span<const uint8_t> encoded);
// Gives add_row() the box's rows, top to bottom: R, G, B, unused per pixel; alpha, gamma and colour profiles
// are ignored, as Pillow's convert("RGB") does. `buffer` grows to a row, or to an interlaced image. The whole
// file is read, so that damage anywhere throws BadImage; add_row() must not throw.
void decode_png(std::span<const uint8_t> encoded, const CropBox& box, std::vector<uint8_t>& buffer,
                const std::function<void(const uint8_t*)>& add_row);

}  // namespace bench
