// Encodes planes with libjpeg without colour conversion or resampling.
#include "bench/image/encode.h"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

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

}  // namespace

std::span<const uint8_t> JpegEncoder::encode(const Planes& planes, int quality, int every) {
  constexpr int kComponents = 3;
  const bool half = planes.half_chroma;
  const int band = half ? 16 : 8;
  const int bands = (planes.height + band - 1) / band;
  const int kept = (bands + every - 1) / every;
  buffer_.resize(static_cast<size_t>(planes.stride[0]) * (kept * band) * kComponents * 2 + 65536);
  unsigned char* out = buffer_.data();
  unsigned long size = buffer_.size();

  Compressor compressor;
  auto& info = compressor.info;
  jpeg_mem_dest(&info, &out, &size);
  info.image_width = planes.width;
  info.image_height = every == 1 ? planes.height : kept * band;
  info.input_components = kComponents;
  info.in_color_space = JCS_YCbCr;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  for (int c = 0; c < kComponents; ++c) {
    info.comp_info[c].h_samp_factor = half && c == 0 ? 2 : 1;
    info.comp_info[c].v_samp_factor = half && c == 0 ? 2 : 1;
  }
  info.raw_data_in = TRUE;
  jpeg_start_compress(&info, TRUE);

  std::array<std::array<JSAMPROW, 16>, kComponents> rows;
  std::array<JSAMPARRAY, kComponents> arrays;
  for (int b = 0; b < bands; b += every) {
    for (int c = 0; c < kComponents; ++c) {
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

}  // namespace bench
