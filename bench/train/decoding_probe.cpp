// Measures how many JPEG images of ImageNet's usual size all cores together decode per second.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "bench/image/decode.h"
#include "bench/image/encode.h"
#include "bench/train/probes.h"
#include "harness/base/process_limits.h"

namespace bench {
namespace {

constexpr int kWidth = 500, kHeight = 375;
constexpr size_t kUsualBytes = 115'000;
constexpr std::chrono::milliseconds kWarmUp(300), kTimed(1500);

// Soft shapes with noise, encoded at the quality that gives about the usual number of bytes.
std::vector<uint8_t> usual_image(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 9);
  Planes planes;
  planes.width = kWidth, planes.height = kHeight;
  for (size_t plane = 0; plane < 3; ++plane) {
    planes.stride[plane] = (kWidth + 15) / 16 * 16;
    const int rows = (kHeight + 15) / 16 * 16;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < planes.stride[plane]; ++x) {
        const float shape = 60 * std::sin(float(x) / float(20 + 7 * plane)) * std::cos(float(y) / 31);
        planes.data[plane].push_back(uint8_t(std::clamp(128 + shape + noise(random), 0.f, 255.f)));
      }
  }
  JpegEncoder encoder;
  std::vector<uint8_t> bytes;
  for (int quality = 96; quality > 40; quality -= 2) {
    const auto encoded = encoder.encode(planes, quality);
    bytes.assign(encoded.begin(), encoded.end());
    if (bytes.size() <= kUsualBytes) break;
  }
  return bytes;
}

}  // namespace

nlohmann::json probe_decoding(int image_px) {
  std::vector<std::vector<uint8_t>> images;
  for (unsigned seed = 0; seed < 8; ++seed) images.push_back(usual_image(seed));
  std::atomic<int64_t> decoded{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  const size_t cores = size_t(base::process_limits().cores);
  for (size_t thread = 0; thread < cores; ++thread)
    threads.emplace_back([&, thread] {
      Decoder decoder;
      std::vector<float> pixels(size_t(image_px) * size_t(image_px) * 3);
      for (int64_t i = int64_t(thread); !stop; i += int64_t(cores), ++decoded) {
        const auto& image = images[size_t(i) % images.size()];
        decoder.crop_to_float(image, draw_augmentation({kWidth, kHeight}, 1, 0, i), image_px, pixels.data());
      }
    });
  std::this_thread::sleep_for(kWarmUp);
  const auto begin = std::chrono::steady_clock::now();
  const int64_t before = decoded;
  std::this_thread::sleep_for(kTimed);
  const int64_t images_decoded = decoded - before;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return {{"images_per_s", double(images_decoded) / took.count()}};
}

}  // namespace bench
