// Finds the amount of detail that gives the planned file size: first encodes some rows, then the whole image.
#include "bench/dataset/standin_image.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr double kSlope = 0.75;      // d log bytes / d log amount, near where images end up
constexpr double kTolerance = 0.08;  // per file; errors of both signs cancel in the mean
constexpr double kLeast = 0.02, kMost = 40;
constexpr double kLearnableDetail = 0.3;

// Initial guess, fitted to the final amounts of 1000 images.
double guess_amount(bool half_chroma, double bits_per_pixel, double pixels) {
  const double area = std::log(pixels / 200e3);
  const double b = std::log(std::clamp(bits_per_pixel, 0.3, 12.0));
  return half_chroma ? std::exp(-0.49 + 1.42 * b - 0.09 * b * b + 0.13 * area)
                     : std::exp(-6.02 + 5.40 * b - 0.92 * b * b + 0.20 * area);
}

}  // namespace

std::vector<uint8_t> ImageMaker::encode_to_size(int quality, double bytes) {
  Planes* planes = &picture_.develop(0);
  const double pixels = static_cast<double>(planes->width) * planes->height;
  double amount = guess_amount(planes->half_chroma, bytes * 8 / pixels, pixels);
  auto encode_at = [&](int every) {
    planes = &picture_.develop(amount);
    return encoder_.encode(*planes, quality, every);
  };
  double slope = kSlope, last_amount = 0, last_size = 0;
  auto correct = [&](double size) {
    if (last_size > 0 && std::abs(std::log(amount / last_amount)) > 0.02)  // below that, rounding dominates
      slope = std::clamp(std::log(size / last_size) / std::log(amount / last_amount), 0.15, 1.5);
    last_amount = amount;
    last_size = size;
    amount = std::clamp(amount * std::pow(bytes / size, 1 / slope), kLeast, kMost);
  };

  if (planes->height >= 256) {
    constexpr int kEvery = 4;
    const int band = planes->half_chroma ? 16 : 8;
    const int bands = (planes->height + band - 1) / band, sampled = (bands + kEvery - 1) / kEvery;
    constexpr double kHeaders = 640;
    const auto size = static_cast<double>(encode_at(kEvery).size()) - kHeaders;
    correct(size * bands / sampled + kHeaders);
  }
  auto result = encode_at(1);
  for (int again = 0; again < 3 && std::abs(result.size() / bytes - 1) > kTolerance; ++again) {
    correct(static_cast<double>(result.size()));
    result = encode_at(1);
  }
  return {result.begin(), result.end()};
}

std::vector<uint8_t> ImageMaker::make(const ImagePlan& plan) {
  picture_.paint(plan.width, plan.height, plan.half_chroma, plan.class_number, plan.seed, plan.learnable);
  if (!plan.learnable) return encode_to_size(plan.quality, plan.bytes);
  const auto encoded = encoder_.encode(picture_.develop(kLearnableDetail), plan.quality);
  return {encoded.begin(), encoded.end()};
}

}  // namespace bench
