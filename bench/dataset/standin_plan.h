// Size, compression and file size of each stand-in image, drawn so that the statistics match ImageNet's.
#pragma once
#include <cstdint>
#include <string>

namespace bench {

struct ImagePlan {
  std::string path;  // train/<wnid>/<wnid>_<n>.JPEG
  int64_t class_number = 0;
  uint64_t seed = 0;
  int width = 0, height = 0;
  int quality = 96;
  bool half_chroma = false;  // 4:2:0
  double bytes = 0;          // target file size, reached by the amount of detail
  bool learnable = false;    // small, and not perfectly separable by class
};

// A pure function of its arguments, so independent of the thread count. Classes alternate (index modulo
// classes).
ImagePlan plan_image(int64_t seed, int64_t index, int64_t classes);

// The index-th image of a set for accuracy measurements: indexes below `images` are in train, the rest in
// val. At most kLearnableClasses classes.
inline constexpr int64_t kLearnableClasses = 40;
ImagePlan plan_learnable_image(int64_t seed, int64_t index, int64_t images, int64_t classes);

}  // namespace bench
