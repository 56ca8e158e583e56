// Encodes planes as the kinds of files that occur in ImageNet.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

// Y, Cb, Cr (and K) planes, uint8; rows and columns are padded to a multiple of 16.
struct Planes {
  int width = 0, height = 0;
  bool half_chroma = false;  // 4:2:0: Cb and Cr have half the size
  std::array<std::vector<uint8_t>, 4> data;
  std::array<int, 4> stride{};
};

enum class Colour { ycc, grey, cmyk, ycck };  // cmyk, ycck: inverted, with Adobe's marker

struct JpegOptions {
  int quality = 96;
  Colour colour = Colour::ycc;
  bool progressive = false;
  bool restart_markers = false;  // after each row of blocks
  std::vector<uint8_t> exif;     // content of an APP1 segment; empty: none
  int every = 1;                 // encodes only every n-th band of rows, to estimate the size of the whole
};

// The result is valid until the next call. Throws std::runtime_error if libjpeg fails.
class JpegEncoder {
 public:
  std::span<const uint8_t> encode(const Planes& planes, const JpegOptions& options);

 private:
  std::vector<uint8_t> buffer_;
};

std::vector<uint8_t> encode_png(const Planes& planes);

// Turns Y, Cb, Cr into inverted C, M, Y, K (or Y, Cb, Cr, K) in place.
void to_inverted_cmyk(Planes& planes);
void to_inverted_ycck(Planes& planes);

// An EXIF segment with the given orientation and a whole JPEG as thumbnail, whose end marker a decoder must
// not take for the end of the file.
std::vector<uint8_t> exif_segment(int orientation, std::span<const uint8_t> thumbnail);

}  // namespace bench
