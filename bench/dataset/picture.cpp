// Paints stand-in pictures: a smooth base in the class's hue and pattern plus octaves of fine noise.
#include "bench/dataset/picture.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kHueSpread = 0.02;  // +-, in turns; hues of neighbouring classes are 0.1 apart
constexpr int kPatternLevel = 2;     // the pattern is smooth: a quarter of the resolution is enough

double pattern_at(int kind, double x, double y, double wave) {
  auto turned = [&](double angle) { return x * std::cos(angle) + y * std::sin(angle); };
  if (kind < 5) return std::sin(turned(kind * kPi / 8) * wave);  // only slopes from 0 to 90 degrees, because
  if (kind < 8) {                                                // mirroring negates a slope
    const double angle = (kind - 5) * kPi / 8;
    return std::sin(turned(angle) * wave) * std::sin(turned(angle + kPi / 2) * wave) * 1.4;
  }
  return kind == 8 ? std::sin(std::hypot(x, y) * wave) : 0.0;
}

}  // namespace

void Picture::paint(int width, int height, bool half_chroma, int64_t class_number, uint64_t seed,
                    bool learnable) {
  Random random(seed);
  planes_.width = width;
  planes_.height = height;
  planes_.half_chroma = half_chroma;
  padded_width_ = (width + 15) / 16 * 16;
  padded_height_ = (height + 15) / 16 * 16;
  paint_base(class_number, random, learnable);
  paint_detail(random);
}

void Picture::paint_base(int64_t class_number, Random& random, bool learnable) {
  const Clarity& clarity = learnable ? kLearnable : kPhotograph;
  const double hue = 2 * kPi * ((class_number % 10) / 10.0 + random.uniform(-kHueSpread, kHueSpread));
  const double other = hue + 2 * kPi * (0.5 + (class_number / 100 % 10) / 10.0);
  const int kind = static_cast<int>(class_number / 10 % 10);
  const double side = std::sqrt(static_cast<double>(padded_width_) * padded_height_);
  const double wave = 2 * kPi / (side * random.uniform(0.12, 0.2));  // five to eight waves across
  const double left = random.uniform(-0.2, 1.2) * padded_width_,
               top = random.uniform(-0.2, 1.2) * padded_height_;
  const double brightness = random.uniform(95, 150);
  const double contrast = random.uniform(clarity.least_contrast, clarity.most_contrast);
  const double colour = random.uniform(clarity.least_colour, clarity.most_colour);
  const std::array<double, 3> mean{brightness, 128 + colour * std::cos(hue), 128 + colour * std::sin(hue)};
  const std::array<double, 3> swing{contrast, 0.6 * colour * std::cos(other), 0.6 * colour * std::sin(other)};

  const int step = 1 << kPatternLevel;
  const int columns = level_size(padded_width_, kPatternLevel),
            rows = level_size(padded_height_, kPatternLevel);
  pattern_.resize(static_cast<size_t>(columns) * rows);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      pattern_[static_cast<size_t>(y) * columns + x] =
          static_cast<float>(pattern_at(kind, x * step - left, y * step - top, wave));

  for (int plane = 0; plane < 3; ++plane) {
    const int gain = plane == 0 ? 120 : 24;  // per octave, in sixteenths of half a grey level
    pyramid_.build(padded_width_, padded_height_, 8, 4, random,
                   [&](int level) { return level == 4 ? gain / 2 : gain; });
    Grid& low = pyramid_.smooth(padded_width_, padded_height_, 4, kPatternLevel);
    const auto centre = static_cast<float>(mean[plane] * 16), reach = static_cast<float>(swing[plane] * 16);
    for (size_t i = 0; i < low.values.size(); ++i)
      low.values[i] = static_cast<int16_t>(low.values[i] + centre + reach * pattern_[i]);
    const int finest = plane > 0 && planes_.half_chroma ? 1 : 0;
    base_[plane] = pyramid_.smooth(padded_width_, padded_height_, kPatternLevel, finest);
  }
}

void Picture::paint_detail(Random& random) {
  const int sharpness = static_cast<int>(random.uniform(6, 20));  // finest octave; the others have 24
  pyramid_.build(padded_width_, padded_height_, 8, 5, random, [](int) { return 40; });
  mask_ = pyramid_.smooth(padded_width_, padded_height_, 5, 3);
  for (auto& value : mask_.values) value = static_cast<int16_t>(std::clamp(256 + value, 40, 600));
  detail_[0] = pyramid_.build(padded_width_, padded_height_, 3, 0, random,
                              [&](int level) { return level == 0 ? sharpness : 24; });
  for (int y = 0; y < detail_[0].height; ++y) {
    int16_t* row = detail_[0].row(y);
    const int16_t* strength = mask_.row(y / 8);
    for (int x = 0; x < detail_[0].width; ++x) row[x] = static_cast<int16_t>((row[x] * strength[x / 8]) >> 8);
  }
  for (int plane = 1; plane < 3; ++plane) {  // colour changes more slowly than brightness
    pyramid_.build(padded_width_, padded_height_, 3, 1, random,
                   [&](int level) { return level == 1 ? 4 : 10; });
    detail_[plane] = pyramid_.smooth(padded_width_, padded_height_, 1, planes_.half_chroma ? 1 : 0);
  }
}

Planes& Picture::develop(double amount) {
  const int factor =
      static_cast<int>(std::lround(std::clamp(amount, 0.0, 50.0) * 410));  // 100 -> 10 levels at 1
  for (int plane = 0; plane < 3; ++plane) {
    const int shrink = plane > 0 && planes_.half_chroma ? 1 : 0;
    const int width = padded_width_ >> shrink, height = padded_height_ >> shrink;
    auto& target = planes_.data[plane];
    target.resize(static_cast<size_t>(width) * height);
    planes_.stride[plane] = width;
    for (int y = 0; y < height; ++y) {
      const int16_t* base = base_[plane].row(y);
      const int16_t* detail = detail_[plane].row(y);
      uint8_t* out = target.data() + static_cast<size_t>(y) * width;
      for (int x = 0; x < width; ++x) {
        const int value = (base[x] + ((detail[x] * factor) >> 8) + 8) >> 4;
        out[x] = static_cast<uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }
  return planes_;
}

}  // namespace bench
