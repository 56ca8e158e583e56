// torchvision's RandomResizedCrop.get_params and RandomHorizontalFlip, drawn from seed, epoch and record.
#include <cmath>

#include "bench/image/decode.h"
#include "bench/image/philox.h"

namespace bench {
namespace {

constexpr double kMinScale = 0.08, kMaxScale = 1.0;
constexpr double kMinRatio = 3.0 / 4.0, kMaxRatio = 4.0 / 3.0;
constexpr int kTries = 10;

double uniform(uint32_t random, double low, double high) { return low + (high - low) * (random * 0x1p-32); }

int below(uint32_t random, int count) {  // 0 .. count - 1
  return static_cast<int>((static_cast<uint64_t>(random) * static_cast<uint64_t>(count)) >> 32);
}

CropBox centre_box(ImageSize size) {
  CropBox box{0, 0, size.width, size.height};
  const double ratio = static_cast<double>(size.width) / size.height;
  if (ratio < kMinRatio) box.height = static_cast<int>(std::nearbyint(size.width / kMinRatio));
  if (ratio > kMaxRatio) box.width = static_cast<int>(std::nearbyint(size.height * kMaxRatio));
  box.left = (size.width - box.width) / 2;
  box.top = (size.height - box.height) / 2;
  return box;
}

}  // namespace

Augmentation draw_augmentation(ImageSize size, uint64_t seed, int64_t epoch, int64_t record) {
  const auto block = [&](uint32_t number) {
    return philox({static_cast<uint32_t>(record), static_cast<uint32_t>(record >> 32),
                   static_cast<uint32_t>(epoch), number},
                  seed);
  };
  Augmentation drawn;
  drawn.flip = (block(kTries)[0] >> 31) != 0;
  const double area = static_cast<double>(size.width) * size.height;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const PhiloxBlock random = block(static_cast<uint32_t>(attempt));
    const double target = area * uniform(random[0], kMinScale, kMaxScale);
    const double ratio = std::exp(uniform(random[1], std::log(kMinRatio), std::log(kMaxRatio)));
    // nearbyint rounds half to even, as Python's round.
    const int width = static_cast<int>(std::nearbyint(std::sqrt(target * ratio)));
    const int height = static_cast<int>(std::nearbyint(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > size.width || height > size.height) continue;
    drawn.box = {below(random[3], size.width - width + 1), below(random[2], size.height - height + 1), width,
                 height};
    return drawn;
  }
  drawn.box = centre_box(size);
  return drawn;
}

}  // namespace bench
