// Uses libpng's row interface: the simplified API would apply gamma chunks, which Pillow ignores.
#include "bench/image/png.h"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>

#include "bench/image/resize.h"

namespace bench {
namespace {

constexpr size_t kHeaderBytes = 33;  // signature and IHDR
constexpr size_t kInterlaceAt = 28;
constexpr uint32_t kMostSide = 65'500;                  // JPEG's limit; the resizer's memory grows with it
constexpr size_t kMostBufferBytes = size_t{256} << 20;  // 67 million pixels of an interlaced image

struct PngSource {
  std::span<const uint8_t> left;
  char message[128] = "";
};

void read_bytes(png_structp png, png_bytep out, size_t count) {
  PngSource& source = *static_cast<PngSource*>(png_get_io_ptr(png));
  if (count > source.left.size()) png_error(png, "its data ends early");
  std::memcpy(out, source.left.data(), count);
  source.left = source.left.subspan(count);
}

void on_error(png_structp png, png_const_charp text) {
  std::strncpy(static_cast<PngSource*>(png_get_error_ptr(png))->message, text, 127);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

// Must hold no object with a destructor: libpng's errors longjmp to the setjmp below. `out` holds one row, or
// all rows of an interlaced image, which are complete only after the last pass.
bool read_rows(png_structp png, png_infop info, PngSource& source, const CropBox& box, uint8_t* out,
               size_t stride, const std::function<void(const uint8_t*)>& add_row) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_read_fn(png, &source, read_bytes);
  png_read_info(png, info);
  png_set_strip_16(png);
  png_set_packing(png);
  png_set_palette_to_rgb(png);
  png_set_expand_gray_1_2_4_to_8(png);
  png_set_gray_to_rgb(png);
  png_set_filler(png, 255, PNG_FILLER_AFTER);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != stride) png_error(png, "unexpected row size");
  const int height = static_cast<int>(png_get_image_height(png, info));
  for (int pass = 0; pass < passes; ++pass)
    for (int y = 0; y < height; ++y) {
      uint8_t* row = passes > 1 ? out + stride * static_cast<size_t>(y) : out;
      png_read_row(png, row, nullptr);
      if (pass == passes - 1 && y >= box.top && y - box.top < box.height)
        add_row(row + 4 * static_cast<size_t>(box.left));
    }
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

bool is_png(std::span<const uint8_t> encoded) {
  return encoded.size() >= 8 && png_sig_cmp(const_cast<png_bytep>(encoded.data()), 0, 8) == 0;
}

ImageSize png_size(std::span<const uint8_t> encoded) {
  if (encoded.size() < kHeaderBytes || std::memcmp(encoded.data() + 12, "IHDR", 4) != 0)
    throw BadImage("PNG: its header is incomplete");
  const uint32_t width = png_get_uint_32(encoded.data() + 16), height = png_get_uint_32(encoded.data() + 20);
  if (width < 1 || height < 1 || width > kMostSide || height > kMostSide ||
      int64_t{width} * height > kMostPixels)
    throw BadImage("PNG: its header claims an impossible size");
  return {static_cast<int>(width), static_cast<int>(height)};
}

void decode_png(std::span<const uint8_t> encoded, const CropBox& box, std::vector<uint8_t>& buffer,
                const std::function<void(const uint8_t*)>& add_row) {
  const ImageSize size = png_size(encoded);
  const bool interlaced = encoded[kInterlaceAt] != PNG_INTERLACE_NONE;
  const size_t stride = static_cast<size_t>(size.width) * 4,
               bytes = stride * static_cast<size_t>(interlaced ? size.height : 1);
  if (bytes > kMostBufferBytes) throw BadImage("PNG: it is interlaced and needs more than 256 MiB");
  if (buffer.size() < bytes + Resizer::kRowPadding) buffer.resize(bytes + Resizer::kRowPadding);
  PngSource source{encoded};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool complete = info && read_rows(png, info, source, box, buffer.data(), stride, add_row);
  if (png) png_destroy_read_struct(&png, &info, nullptr);
  if (!complete) throw BadImage(std::string("PNG: ") + source.message);
}

}  // namespace bench
