// One JPEG at a time through libjpeg-turbo, decoding no more than a crop box needs.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "bench/image/decode.h"

namespace bench {

// open(), then start() and box.height times next_row(), then finish(). The encoded bytes must live until
// finish(). Every call throws BadImage and leaves the reader ready for the next open().
class JpegReader {
 public:
  JpegReader();
  ~JpegReader();
  ImageSize open(std::span<const uint8_t> encoded);
  bool is_usual() const;  // after open(): one colour or YCbCr, and an end marker behind its data
  void start(const CropBox& box);
  const uint8_t* next_row();  // box.width pixels of R, G, B, unused; valid until the next call; some bytes
                              // beyond are readable
  void finish();              // what lies below the box is decoded only if the file's end looks cut off

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
