// Crops, resizes, flips and normalises the decoded images of a batch with one kernel.
#pragma once
#include <cstdint>

#include "bench/image/batch_format.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace bench {

// A decoded image in device memory, and the box of it that becomes a crop.
struct DecodedImage {
  const uint8_t* planes[3];  // red, green, blue
  int pitch;                 // bytes from one row to the next
  int left, top, width, height;
  bool flip;
  void* out;  // bytes_per_image(format, side) bytes of device memory
};

// `images`: `count` of them in device memory. As Resizer, but rounded to integers once, not between the
// passes, so that values can differ by 1. Asynchronous; throws std::runtime_error if the launch fails.
void crop_and_resize(const DecodedImage* images, int64_t count, int side, BatchFormat format,
                     CUstream_st* stream);

}  // namespace bench
