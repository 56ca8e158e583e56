// Reads JPEG files with libjpeg-turbo, decoding only what a crop box needs.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "bench/image/decode.h"

namespace bench {

// Call open(), then start(), next_row() box.height times, then finish(). The encoded bytes must stay valid
// until finish(). Any call may throw BadImage; the reader is then ready for the next open().
class JpegReader {
 public:
  JpegReader();
  ~JpegReader();
  ImageSize open(std::span<const uint8_t> encoded);
  bool is_usual() const;  // after open(): greyscale or YCbCr, with an end-of-image marker
  void start(const CropBox& box);
  // box.width pixels of R, G, B, unused (uint8), valid until the next call; Resizer::kRowPadding bytes after
  // them are readable.
  const uint8_t* next_row();
  void finish();  // decodes the rows below the box if the file has no end-of-image marker

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
