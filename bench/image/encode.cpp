// Encodes planes with libjpeg and libpng without colour conversion or resampling.
#include "bench/image/encode.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>

extern "C" {  // after <cstdio>, which it needs and does not include
#include <jpeglib.h>
}

namespace bench {
namespace {

[[noreturn]] void fail(j_common_ptr info) {
  char text[JMSG_LENGTH_MAX];
  info->err->format_message(info, text);
  throw std::runtime_error(std::string("libjpeg could not encode a picture: ") + text);
}

// Frees libjpeg's memory, also when an error is thrown.
struct Compressor {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  Compressor() {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = fail;
    jpeg_create_compress(&info);
  }
  ~Compressor() { jpeg_destroy_compress(&info); }
};

void rgb_at(const Planes& planes, int x, int y, std::array<int, 3>& rgb) {
  const int shift = planes.half_chroma ? 1 : 0;
  auto at = [&](int plane, int s) {
    return planes.data[plane][static_cast<size_t>(y >> s) * planes.stride[plane] + (x >> s)];
  };
  const double luma = at(0, 0), cb = at(1, shift) - 128, cr = at(2, shift) - 128;
  const std::array<double, 3> values{luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr,
                                     luma + 1.772 * cb};
  for (int c = 0; c < 3; ++c) rgb[c] = std::clamp(static_cast<int>(values[c] + 0.5), 0, 255);
}

}  // namespace

std::span<const uint8_t> JpegEncoder::encode(const Planes& planes, const JpegOptions& options) {
  const int components = options.colour == Colour::grey ? 1 : options.colour == Colour::ycc ? 3 : 4;
  const bool half = planes.half_chroma && components == 3;
  const int band = half ? 16 : 8;
  const int bands = (planes.height + band - 1) / band;
  const int kept = (bands + options.every - 1) / options.every;
  buffer_.resize(static_cast<size_t>(planes.stride[0]) * (kept * band) * components * 2 +
                 options.exif.size() + 65536);
  unsigned char* out = buffer_.data();
  unsigned long size = buffer_.size();

  Compressor compressor;
  auto& info = compressor.info;
  jpeg_mem_dest(&info, &out, &size);
  info.image_width = planes.width;
  info.image_height = options.every == 1 ? planes.height : kept * band;
  info.input_components = components;
  info.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_YCbCr : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (options.colour == Colour::ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, options.quality, TRUE);
  for (int c = 0; c < components; ++c) {
    info.comp_info[c].h_samp_factor = half && c == 0 ? 2 : 1;
    info.comp_info[c].v_samp_factor = half && c == 0 ? 2 : 1;
  }
  info.raw_data_in = TRUE;
  if (options.restart_markers) info.restart_in_rows = 1;
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (!options.exif.empty())
    jpeg_write_marker(&info, JPEG_APP0 + 1, options.exif.data(), static_cast<unsigned>(options.exif.size()));

  std::array<std::array<JSAMPROW, 16>, 4> rows;
  std::array<JSAMPARRAY, 4> arrays;
  for (int b = 0; b < bands; b += options.every) {
    for (int c = 0; c < components; ++c) {
      const int lines = half && c > 0 ? 8 : band;
      auto* plane = const_cast<JSAMPROW>(planes.data[c].data());
      for (int y = 0; y < lines; ++y)
        rows[c][y] = plane + static_cast<size_t>(b * lines + y) * planes.stride[c];
      arrays[c] = rows[c].data();
    }
    jpeg_write_raw_data(&info, arrays.data(), band);
  }
  jpeg_finish_compress(&info);
  if (out != buffer_.data()) throw std::runtime_error("an encoded picture is larger than its buffer");
  return {buffer_.data(), size};
}

std::vector<uint8_t> encode_png(const Planes& planes) {
  std::vector<uint8_t> pixels(static_cast<size_t>(planes.width) * planes.height * 3);
  std::array<int, 3> rgb;
  for (int y = 0; y < planes.height; ++y)
    for (int x = 0; x < planes.width; ++x) {
      rgb_at(planes, x, y, rgb);
      std::copy(rgb.begin(), rgb.end(), pixels.begin() + (static_cast<size_t>(y) * planes.width + x) * 3);
    }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = planes.width;
  image.height = planes.height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<uint8_t> out(size);
  if (!png_image_write_to_memory(&image, out.data(), &size, 0, pixels.data(), 0, nullptr))
    throw std::runtime_error(std::string("libpng could not encode a picture: ") + image.message);
  out.resize(size);
  return out;
}

void to_inverted_cmyk(Planes& planes) {
  planes.data[3].resize(planes.data[0].size());
  planes.stride[3] = planes.stride[0];
  std::array<int, 3> rgb;
  const int rows = static_cast<int>(planes.data[0].size() / planes.stride[0]);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < planes.stride[0]; ++x) {
      rgb_at(planes, x, y, rgb);
      const int light = std::max(1, *std::max_element(rgb.begin(), rgb.end()));
      const size_t i = static_cast<size_t>(y) * planes.stride[0] + x;
      for (int c = 0; c < 3; ++c) planes.data[c][i] = static_cast<uint8_t>(rgb[c] * 255 / light);
      planes.data[3][i] = static_cast<uint8_t>(light);
    }
}

void to_inverted_ycck(Planes& planes) {
  for (int c = 0; c < 3; ++c)
    for (auto& value : planes.data[c]) value = 255 - value;
  planes.data[3].assign(planes.data[0].size(), 255);
  planes.stride[3] = planes.stride[0];
}

std::vector<uint8_t> exif_segment(int orientation, std::span<const uint8_t> thumbnail) {
  std::vector<uint8_t> out{'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0};  // little-endian TIFF
  auto put = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  auto entry = [&](int tag, int type, uint32_t value) {
    put(tag, 2), put(type, 2), put(1, 4), put(value, 4);
  };
  put(8, 4);                                 // offset of the first directory, from "II"
  put(1, 2), entry(0x0112, 3, orientation);  // 14 bytes
  put(26, 4);                                // offset of the thumbnail's directory
  put(3, 2), entry(0x0103, 3, 6), entry(0x0201, 4, 26 + 2 + 3 * 12 + 4);
  entry(0x0202, 4, static_cast<uint32_t>(thumbnail.size())), put(0, 4);
  out.insert(out.end(), thumbnail.begin(), thumbnail.end());
  return out;
}

}  // namespace bench
