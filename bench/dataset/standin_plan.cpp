// Draws plans from a low-discrepancy sequence, so that small sets have the right means too.
#include "bench/dataset/standin_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/dataset/pink_noise.h"

namespace bench {
namespace {

// The index-th point of the R5 sequence (Roberts 2018), shifted by the seed: five numbers in [0, 1).
std::array<double, 5> even_draw(int64_t seed, int64_t index) {
  constexpr double kRatio = 1.1347241384015194;  // root of x^6 = x + 1
  Random shift(static_cast<uint64_t>(seed) * 0x2545F4914F6CDD1Du + 17);
  std::array<double, 5> draw;
  double step = 1;
  for (auto& u : draw) {
    step /= kRatio;
    u = std::fmod(shift.uniform() + static_cast<double>(index + 1) * step, 1.0);
  }
  return draw;
}

// Quantile of the standard normal distribution, approximated with Tukey's lambda distribution to about 0.01.
double normal_quantile(double u) {
  u = std::clamp(u, 1e-6, 1 - 1e-6);
  return (std::pow(u, 0.135) - std::pow(1 - u, 0.135)) / 0.1975;
}

// Three quarters have a long side of 500 pixels; the rest is spread below and above.
double long_side(double u) {
  if (u < 0.75) return 500;
  if (u < 0.86) return std::clamp(330 * std::exp(0.3 * normal_quantile((u - 0.75) / 0.11)), 80.0, 499.0);
  const double above = 0.5 + 0.5 * (u - 0.86) / 0.14;  // upper half of a log-normal
  return std::min(1700.0, 512 * std::exp(0.40 * normal_quantile(above)));
}

double short_over_long(double u) {
  if (u < 0.55) return 0.75;           // 500x375
  if (u < 0.83) return 333.0 / 500.0;  // 500x333
  return 0.5 + 0.5 * (u - 0.83) / 0.17;
}

}  // namespace

ImagePlan plan_image(int64_t seed, int64_t index, int64_t classes) {
  const auto draw = even_draw(seed, index);
  ImagePlan plan;
  plan.class_number = index % classes;
  plan.path = fmt::format("train/n{0:08}/n{0:08}_{1}.JPEG", plan.class_number, index / classes);
  plan.seed = Random(Random(static_cast<uint64_t>(seed)).next() ^ static_cast<uint64_t>(index)).next();

  const double longer = long_side(draw[0]);
  const int a = static_cast<int>(std::lround(longer));
  const int b = std::max(32, static_cast<int>(std::lround(longer * short_over_long(draw[1]))));
  const bool landscape = draw[2] < 0.72;
  plan.width = landscape ? a : b;
  plan.height = landscape ? b : a;

  double bits_per_pixel;
  if (draw[3] < 0.9) {  // 4:4:4 at quality 96
    bits_per_pixel = std::clamp(4.6 * std::exp(0.34 * normal_quantile(draw[4])), 1.8, 9.0);
  } else {
    const double u = (draw[3] - 0.9) / 0.1;
    plan.half_chroma = true;
    plan.quality = 75 + static_cast<int>(u * 15.999);
    bits_per_pixel = (0.9 + 1.1 * u) * std::exp(0.3 * normal_quantile(draw[4]));
  }
  plan.bytes = bits_per_pixel / 8 * plan.width * plan.height;
  return plan;
}

// A class is one of ten hues with one of four patterns: those patterns of plan_image that differ most.
ImagePlan plan_learnable_image(int64_t seed, int64_t index, int64_t images, int64_t classes) {
  constexpr std::array<int64_t, 4> kPatterns{0, 4, 6, 8};  // vertical and horizontal stripes, checkers, rings
  const bool validation = index >= images;
  const int64_t number = validation ? index - images : index, label = number % classes;
  const auto draw = even_draw(seed, index);
  ImagePlan plan;
  plan.class_number = label % 10 + 10 * kPatterns[label / 10];
  plan.path =
      fmt::format("{0}/n{1:08}/n{1:08}_{2}.JPEG", validation ? "val" : "train", label, number / classes);
  plan.seed = Random(Random(~static_cast<uint64_t>(seed)).next() ^ static_cast<uint64_t>(index)).next();
  const int longer = 112 + static_cast<int>(draw[0] * 65);  // short side scaled from ImageNet's 375
  plan.width = draw[2] < 0.72 ? longer : 112;
  plan.height = draw[2] < 0.72 ? 112 : longer;
  plan.quality = 90;
  plan.learnable = true;
  return plan;
}

}  // namespace bench
