// What each stand-in image will be: size, compression and bytes, drawn so that the set's statistics match
// ImageNet's.
#pragma once
#include <cstdint>
#include <string>

namespace bench {

// The kinds of files that break decoders; ImageNet has all of them.
enum class Oddity { none, grey, cmyk, ycck, png, exif, progressive, restart_markers, thin, huge };

struct ImagePlan {
  std::string path;  // train/<wnid>/<wnid>_<n>.JPEG
  int64_t class_number = 0;
  uint64_t seed = 0;
  int width = 0, height = 0;
  int quality = 96;
  bool half_chroma = false;  // 4:2:0
  double bytes = 0;          // to reach by the amount of detail
  Oddity oddity = Oddity::none;
  bool learnable = false;  // small, and shows its class so faintly that some must be taken for another
};

// Depends on nothing but the arguments. `images` matters only for which odd files belong to the set: none
// below 50, one of each kind from 50, the huge one from 1000. Equal for any thread count, and classes take
// turns.
ImagePlan plan_image(int64_t seed, int64_t index, int64_t images, int64_t classes);

// The index-th image of a set that accuracy is measured on: `images` in train, the rest in val, none of them
// odd. At most kLearnableClasses.
inline constexpr int64_t kLearnableClasses = 40;
ImagePlan plan_learnable_image(int64_t seed, int64_t index, int64_t images, int64_t classes);

}  // namespace bench
