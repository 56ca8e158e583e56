// One stand-in picture: colours and pattern encode the class; the amount of photograph-like noise is set
// later.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "bench/dataset/pink_noise.h"
#include "bench/image/encode.h"

namespace bench {

// How clearly a picture shows its class.
struct Clarity {
  double least_contrast, most_contrast;  // of the pattern, in grey levels
  double least_colour, most_colour;
};
inline constexpr Clarity kPhotograph{16, 34, 26, 44}, kLearnable{30, 70, 8, 60};

class Picture {
 public:
  // Draws everything but the amount of fine detail. The class is encoded in features that survive cropping
  // and mirroring: the hue (last digit of the class number), the pattern (second digit: stripes of five
  // slopes, three checkers, rings, plain) and the hue of the pattern (third digit). `learnable` uses
  // kLearnable instead of kPhotograph: patterns are easy to learn, but pale hues are lost in noise.
  void paint(int width, int height, bool half_chroma, int64_t class_number, uint64_t seed, bool learnable);
  // The picture with `amount` of detail (1: standard deviation of about 10 grey levels). Valid until the next
  // call.
  Planes& develop(double amount);

 private:
  void paint_base(int64_t class_number, Random& random, bool learnable);
  void paint_detail(Random& random);
  int padded_width_ = 0, padded_height_ = 0;
  Planes planes_;
  std::array<Grid, 3> base_;    // sixteenths of a grey level
  std::array<Grid, 3> detail_;  // standard deviation about 100
  Grid mask_;                   // strength of the texture per 8x8 pixels, 256 = 1
  std::vector<float> pattern_;
  Pyramid pyramid_;
};

}  // namespace bench
