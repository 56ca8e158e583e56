// Deliberately damaged image files: cut at a marker, with a wrong size, or decompression bombs.
#pragma once
#include <png.h>

#include <stdexcept>

#include "tests/support/small_images.h"

namespace bench {

// Position of each marker of a JPEG (its 0xFF), including restart markers and markers of later scans.
inline std::vector<size_t> marker_positions(const Bytes& jpeg) {
  std::vector<size_t> positions;
  for (size_t at = 0; at + 1 < jpeg.size();) {
    const uint8_t code = jpeg[at + 1];
    if (jpeg[at] != 0xFF || code == 0x00 || code == 0xFF) {  // entropy-coded data
      ++at;
      continue;
    }
    positions.push_back(at);
    const bool alone = code == 0x01 || (code >= 0xD0 && code <= 0xD9);
    at += alone || at + 3 >= jpeg.size() ? 2 : 2 + (size_t{jpeg[at + 2]} << 8 | jpeg[at + 3]);
  }
  return positions;
}

// Just before and after each marker, within its length field, and in the middle of its segment and of the
// data after it.
inline std::vector<Bytes> cut_at_every_marker(const Bytes& jpeg) {
  std::vector<Bytes> cuts;
  std::vector<size_t> positions = marker_positions(jpeg);
  positions.push_back(jpeg.size());
  for (size_t i = 0; i + 1 < positions.size(); ++i)
    for (const size_t end : {positions[i], positions[i] + 1, positions[i] + 2, positions[i] + 3,
                             (positions[i] + positions[i + 1]) / 2})
      if (end < jpeg.size() && end <= positions[i + 1])
        cuts.emplace_back(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(end));
  return cuts;
}

inline void put_big_endian(Bytes& bytes, size_t at, uint32_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes.at(at + static_cast<size_t>(i)) = static_cast<uint8_t>(value >> (8 * (count - 1 - i)));
}

// Changes the size in the frame header (any SOF marker).
inline Bytes with_claimed_size(Bytes jpeg, int width, int height) {
  for (const size_t at : marker_positions(jpeg)) {
    const uint8_t code = jpeg[at + 1];
    if (code < 0xC0 || code > 0xCF || code == 0xC4 || code == 0xC8 || code == 0xCC) continue;
    put_big_endian(jpeg, at + 5, static_cast<uint32_t>(height), 2);
    put_big_endian(jpeg, at + 7, static_cast<uint32_t>(width), 2);
    return jpeg;
  }
  throw std::logic_error("no frame header in this JPEG");
}

// Repeats the last scan of a progressive JPEG, tables included.
inline Bytes with_many_scans(const Bytes& progressive, int times) {
  const std::vector<size_t> markers = marker_positions(progressive);
  size_t last = markers.size() - 1;
  while (progressive[markers[last] + 1] != 0xDA) --last;
  if (progressive[markers[last - 1] + 1] == 0xC4) --last;  // its Huffman table
  const auto from = progressive.begin() + static_cast<std::ptrdiff_t>(markers[last]),
             to = progressive.end() - 2;
  Bytes result(progressive.begin(), to);
  for (int i = 0; i < times; ++i) result.insert(result.end(), from, to);
  result.insert(result.end(), to, progressive.end());
  return result;
}

struct PngKind {
  int bits = 8;
  int colour = PNG_COLOR_TYPE_RGB;
  bool interlaced = false;
  bool flat = false;  // all zero: as small as a PNG of its size can be
};

inline Bytes png_of(int width, int height, const PngKind& kind = {}) {
  Bytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto append = [](png_structp writer, png_bytep data, size_t size) {
    auto& out = *static_cast<Bytes*>(png_get_io_ptr(writer));
    out.insert(out.end(), data, data + size);
  };
  png_set_write_fn(png, &bytes, append, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), kind.bits,
               kind.colour, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (kind.flat) png_set_filter(png, 0, PNG_FILTER_NONE);
  if (kind.colour == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette(size_t{1} << kind.bits);
    for (size_t i = 0; i < palette.size(); ++i) palette[i].red = static_cast<png_byte>(i);
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  png_write_info(png, info);
  Bytes row(png_get_rowbytes(png, info));
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass)
    for (int y = 0; y < height; ++y) {
      if (!kind.flat)
        for (size_t i = 0; i < row.size(); ++i)
          row[i] = static_cast<uint8_t>(i * 7 + static_cast<size_t>(y) * 3);
      png_write_row(png, row.data());
    }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

}  // namespace bench
