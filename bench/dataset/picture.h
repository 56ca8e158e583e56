// One stand-in picture: class-coded colours and pattern under photograph-like noise whose amount is set
// later.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "bench/dataset/noise.h"
#include "bench/image/encode.h"

namespace bench {

// How clearly a picture shows its class.
struct Clarity {
  double hue_spread;                     // either way, in turns; classes are a tenth apart
  double least_contrast, most_contrast;  // of the pattern, in grey levels
  double least_colour, most_colour;
};
inline constexpr Clarity kPhotograph{0.02, 16, 34, 26, 44}, kLearnable{0.02, 30, 70, 8, 60};

class Picture {
 public:
  // Draws everything but the amount of fine detail. What a network can learn of the class is all over the
  // picture, so that any crop shows it, and mirrored pictures keep it: the hue (last digit), the pattern
  // (second digit: stripes of five slopes, three checkers, rings, plain) and the pattern's own hue (third
  // digit). `learnable`: with the clarity of that name: patterns are soon learned, and the hue of a pale
  // picture drowns in noise.
  void paint(int width, int height, bool half_chroma, int64_t class_number, uint64_t seed,
             bool learnable = false);
  // The picture with `amount` of detail (1: standard deviation about 10 grey levels); valid until the next
  // call.
  Planes& develop(double amount);

 private:
  void paint_base(int64_t class_number, Random& random, bool learnable);
  void paint_detail(Random& random);
  int padded_width_ = 0, padded_height_ = 0;
  Planes planes_;
  std::array<Grid, 3> base_;    // sixteenths of a grey level
  std::array<Grid, 3> detail_;  // standard deviation about 100
  Grid mask_;                   // where texture is strong, one value per 8x8 pixels, 256 = 1
  std::vector<float> pattern_;
  Pyramid pyramid_;
};

}  // namespace bench
