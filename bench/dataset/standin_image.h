// Turns the plan of a stand-in image into the bytes of its file.
#pragma once
#include <cstdint>
#include <vector>

#include "bench/dataset/picture.h"
#include "bench/dataset/standin_plan.h"
#include "bench/image/encode.h"

namespace bench {

// One per thread: keeps its buffers from image to image, not its results.
class ImageMaker {
 public:
  std::vector<uint8_t> make(const ImagePlan& plan);

 private:
  std::vector<uint8_t> encode_to_size(const JpegOptions& options, double bytes);
  Picture picture_;
  JpegEncoder encoder_;
};

}  // namespace bench
