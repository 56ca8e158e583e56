// Encodes a stand-in image from its plan.
#pragma once
#include <cstdint>
#include <vector>

#include "bench/dataset/picture.h"
#include "bench/dataset/standin_plan.h"
#include "bench/image/encode.h"

namespace bench {

// One per thread: reuses its buffers from image to image; results don't depend on earlier images.
class ImageMaker {
 public:
  std::vector<uint8_t> make(const ImagePlan& plan);

 private:
  std::vector<uint8_t> encode_to_size(int quality, double bytes);
  Picture picture_;
  JpegEncoder encoder_;
};

}  // namespace bench
