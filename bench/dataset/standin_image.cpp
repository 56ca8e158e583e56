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
double guess_amount(const JpegOptions& options, bool half_chroma, double bits_per_pixel, double pixels) {
  const double area = std::log(pixels / 200e3);
  if (options.colour == Colour::grey) bits_per_pixel *= 1.3;  // no bits are spent on colour
  const double b = std::log(std::clamp(bits_per_pixel, 0.3, 12.0));
  return half_chroma ? std::exp(-0.49 + 1.42 * b - 0.09 * b * b + 0.13 * area)
                     : std::exp(-6.02 + 5.40 * b - 0.92 * b * b + 0.20 * area);
}

}  // namespace

std::vector<uint8_t> ImageMaker::encode_to_size(const JpegOptions& options, double bytes) {
  Planes* planes = &picture_.develop(0);
  const double pixels = static_cast<double>(planes->width) * planes->height;
  double amount = guess_amount(options, planes->half_chroma, bytes * 8 / pixels, pixels);
  auto encode_at = [&](const JpegOptions& with) {
    planes = &picture_.develop(amount);
    if (with.colour == Colour::cmyk) to_inverted_cmyk(*planes);
    if (with.colour == Colour::ycck) to_inverted_ycck(*planes);
    return encoder_.encode(*planes, with);
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
    JpegOptions probe = options;
    probe.every = 4;
    probe.progressive = false;
    const int band = planes->half_chroma ? 16 : 8;
    const int bands = (planes->height + band - 1) / band;
    constexpr double kHeaders = 640;
    const auto size = static_cast<double>(encode_at(probe).size()) - kHeaders;
    correct(size * bands / ((bands + probe.every - 1) / probe.every) + kHeaders);
  }
  auto result = encode_at(options);
  for (int again = 0; again < 3 && std::abs(result.size() / bytes - 1) > kTolerance; ++again) {
    correct(static_cast<double>(result.size()));
    result = encode_at(options);
  }
  return {result.begin(), result.end()};
}

std::vector<uint8_t> ImageMaker::make(const ImagePlan& plan) {
  JpegOptions options;
  options.quality = plan.quality;
  if (plan.learnable) {
    picture_.paint(plan.width, plan.height, plan.half_chroma, plan.class_number, plan.seed, true);
    const auto encoded = encoder_.encode(picture_.develop(kLearnableDetail), options);
    return {encoded.begin(), encoded.end()};
  }
  if (plan.oddity == Oddity::exif) {
    picture_.paint(160, 120, true, plan.class_number, plan.seed);
    JpegOptions small;
    small.quality = 80;
    options.exif = exif_segment(6, encoder_.encode(picture_.develop(2), small));
  }
  picture_.paint(plan.width, plan.height, plan.half_chroma, plan.class_number, plan.seed);
  switch (plan.oddity) {
    case Oddity::png:
      return encode_png(picture_.develop(1));
    case Oddity::grey:
      options.colour = Colour::grey;
      break;
    case Oddity::cmyk:
      options.colour = Colour::cmyk;
      break;
    case Oddity::ycck:
      options.colour = Colour::ycck;
      break;
    case Oddity::progressive:
      options.progressive = true;
      break;
    case Oddity::restart_markers:
      options.restart_markers = true;
      break;
    default:
      break;
  }
  return encode_to_size(options, plan.bytes);
}

}  // namespace bench
