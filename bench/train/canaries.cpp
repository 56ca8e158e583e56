// Times four fixed tasks: a matrix product, a memory copy, a JPEG decoding and an all-reduce over loopback.
#include <ATen/Parallel.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <random>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "bench/image/decode.h"
#include "bench/image/encode.h"
#include "bench/train/backend/group.h"
#include "bench/train/probes.h"
#include "harness/base/listener.h"

namespace bench {
namespace {

constexpr int kCanaryRounds = 15;

double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = -2; round < kCanaryRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (round >= 0) times.push_back(took.count());  // two untimed warm-up rounds
  }
  std::nth_element(times.begin(), times.begin() + kCanaryRounds / 2, times.end());
  return times[kCanaryRounds / 2];
}

double gemm_ms() {
  const at::Tensor a = at::rand({512, 512}), b = at::rand({512, 512});
  at::Tensor product = at::mm(a, b);
  return median_ms([&] { at::mm_out(product, a, b); });
}

double memcpy_ms() {
  std::vector<char> from(64 << 20, 1), to(from.size());
  volatile char seen = 0;  // keeps the compiler from removing the copy
  return median_ms([&] {
    std::memcpy(to.data(), from.data(), from.size());
    seen = to[from.size() / 2];
  });
}

double decode_ms() {
  constexpr int kSide = 512, kCrop = 64;
  std::mt19937 random(1);
  Planes planes;
  planes.width = planes.height = kSide;
  for (size_t i = 0; i < 3; ++i) {
    planes.stride[i] = kSide;
    planes.data[i].resize(size_t(kSide) * kSide);
    for (size_t j = 0; j < planes.data[i].size();
         ++j)  // a ramp with noise, so that entropy decoding has work
      planes.data[i][j] = uint8_t(64 + (j % kSide) / 4 + random() % 32);
  }
  JpegEncoder encoder;
  const auto encoded = encoder.encode(planes, /*quality=*/90);
  Decoder decoder;
  std::vector<uint8_t> pixels(kCrop * kCrop * 3);
  return median_ms([&] {
    decoder.crop_to_uint8(encoded, {{0, 0, kSide, kSide}, false}, kCrop, pixels.data());
  });
}

double all_reduce_ms() {
  base::Listener listener(0, false);
  const auto rank = [&](int number) {
    RankInfo info;
    info.rank = info.local_rank = number;
    info.world_size = info.local_world_size = 2;
    info.master_port = listener.port();
    if (number == 0) info.listen_fd = listener.fd();
    GroupOptions options;
    options.rank = info;
    const auto group = GroupRegistry::instance().find("gloo")(options);
    std::vector<at::Tensor> message = {at::ones({1 << 20})};
    const double ms = median_ms([&] { group->process_group()->allreduce(message)->wait(); });
    group->barrier();
    return ms;
  };
  auto other = std::async(std::launch::async, rank, 1);
  const double ms = rank(0);
  other.get();
  return ms;
}

}  // namespace

nlohmann::json run_canaries() {
  at::set_num_threads(1);
  return {{"gemm_ms", gemm_ms()},
          {"memcpy_ms", memcpy_ms()},
          {"decode_ms", decode_ms()},
          {"all_reduce_ms", all_reduce_ms()}};
}

}  // namespace bench
