// unit: the GPU kernels of the fused layers, run by threads of the CPU, against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

// The words of CUDA C++ come before kernels.
// clang-format off
#include "tests/support/kernels_on_cpu.h"
#include "bench/train/cuda/fused_layers_kernels.cuh"
// clang-format on

namespace bench::fused::fused_kernels_test {

constexpr float kEpsilon = 1e-5f, kMomentum = 0.1f;

// Activations of `rows` positions and a batch norm's values per channel.
struct Layer {
  int64_t rows;
  int channels;
  std::vector<float> x, addend, dy, mean, inverse, scale, shift;
  Layer(int64_t r, int c) : rows(r), channels(c), x(r * c), addend(r * c), dy(r * c) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (auto* values : {&x, &addend, &dy})
      for (float& value : *values) value = normal(random);
    for (int channel = 0; channel < c; ++channel) {
      double sum = 0, squares = 0;
      for (int64_t row = 0; row < r; ++row) sum += x[row * c + channel] += float(channel);
      for (int64_t row = 0; row < r; ++row) squares += std::pow(x[row * c + channel] - sum / r, 2);
      mean.push_back(float(sum / r));
      inverse.push_back(float(1 / std::sqrt(squares / r + kEpsilon)));
      scale.push_back(0.5f + normal(random));
      shift.push_back(normal(random));
    }
  }
  Channels view() const { return {mean.data(), inverse.data(), scale.data(), shift.data()}; }
  double before_relu(int64_t at, bool add) const {
    const int64_t c = at % channels;
    return (double(x[at]) - mean[c]) * inverse[c] * scale[c] + shift[c] + (add ? addend[at] : 0);
  }
};

// Grids with several blocks in both directions, lanes without channels, and fewer rows than threads.
struct Case {
  int64_t rows;
  int channels;
  dim3 grid, block;
};
const Case kCases[] = {
    {50, 24, {2, 3, 1}, {2, 16, 1}}, {3, 8, {1, 1, 1}, {1, 8, 1}}, {200, 64, {1, 2, 1}, {8, 8, 1}}};

class FusedKernels : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(FusedKernels, ForwardAndBackwardEqualPlainLoops) {
  const auto [number, add] = GetParam();
  const auto& [rows, channels, grid, block] = kCases[number];
  const Layer layer(rows, channels);
  const int64_t size = rows * channels;
  const float unset = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> y(size, unset), running_mean(channels, 2), running_variance(channels, 3);
  std::vector<uint8_t> positive(size / kGroup);
  run_on_cpu(grid, block, [&] {
    (add ? normalise_and_clip<float, true>
         : normalise_and_clip<float, false>)(layer.x.data(), layer.addend.data(), y.data(), positive.data(),
                                             layer.view(),
                                             {running_mean.data(), running_variance.data(), kMomentum,
                                              kEpsilon},
                                             rows, channels);
  });
  for (int64_t at = 0; at < size; ++at) {
    const double expected = layer.before_relu(at, add);
    ASSERT_NEAR(y[at], std::max(expected, 0.0), 1e-4) << at;
    if (std::fabs(expected) > 1e-4) {
      ASSERT_EQ(positive[at / kGroup] >> at % kGroup & 1, expected > 0) << at;
    }
  }

  std::vector<float> daddend(size, unset), partial(2 * grid.y * channels, unset), dscale(channels, unset),
      dshift(channels, unset), slopes(3 * channels, unset), dx(size, unset);
  const Slopes view{&slopes[0], &slopes[channels], &slopes[2 * channels]};
  run_on_cpu(grid, block, [&] {
    (add ? sum_gradients<float, true>
         : sum_gradients<float, false>)(layer.dy.data(), layer.x.data(), positive.data(), layer.mean.data(),
                                        daddend.data(), partial.data(), rows, channels);
  });
  run_on_cpu({(unsigned(channels) + 7) / 8, 1, 1}, {8, 4, 1}, [&] {
    finish_sums(partial.data(), int(grid.y), layer.view(), dscale.data(), dshift.data(), view, rows,
                channels);
  });
  run_on_cpu(grid, block, [&] {
    if (add)
      gradient_of_input<float, true>(daddend.data(), layer.x.data(), nullptr, layer.mean.data(), view,
                                     dx.data(), rows, channels);
    else
      gradient_of_input<float, false>(layer.dy.data(), layer.x.data(), positive.data(), layer.mean.data(),
                                      view, dx.data(), rows, channels);
  });
  for (int c = 0; c < channels; ++c) {
    double sum = 0, products = 0, deviations = 0;
    const auto gradient = [&](int64_t at) {
      return positive[at / kGroup] >> at % kGroup & 1 ? double(layer.dy[at]) : 0.0;
    };
    for (int64_t at = c; at < size; at += channels) {
      const double deviation = double(layer.x[at]) - layer.mean[c];
      sum += gradient(at);
      products += gradient(at) * deviation;
      deviations += deviation * deviation;
    }
    const double inverse = layer.inverse[c], variance = rows > 1 ? deviations / double(rows - 1) : deviations;
    EXPECT_NEAR(running_mean[c], 2 + kMomentum * (layer.mean[c] - 2), 1e-5);
    EXPECT_NEAR(running_variance[c], 3 + kMomentum * (variance - 3), 1e-4);
    EXPECT_NEAR(dshift[c], sum, 1e-4);
    EXPECT_NEAR(dscale[c], products * inverse, 1e-4);
    for (int64_t at = c; at < size; at += channels) {
      const double deviation = double(layer.x[at]) - layer.mean[c];
      const double expected = layer.scale[c] * inverse *
                              (gradient(at) - sum / rows - deviation * inverse * inverse * products / rows);
      ASSERT_NEAR(dx[at], expected, 1e-4) << at;
      if (add) {
        ASSERT_EQ(double(daddend[at]), gradient(at)) << at;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, FusedKernels, testing::Combine(testing::Range(0, 3), testing::Bool()));

TEST(FusedKernels, StatisticsEqualPlainLoops) {
  for (const auto& [rows, channels, grid, block] : kCases) {
    const Layer layer(rows, channels);
    const float unset = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> partial(2 * grid.y * channels, unset), mean(channels, unset), inverse(channels, unset);
    run_on_cpu(grid, block, [&] { sum_values<float>(layer.x.data(), partial.data(), rows, channels); });
    run_on_cpu({(unsigned(channels) + 7) / 8, 1, 1}, {8, 4, 1}, [&] {
      finish_statistics<float>(layer.x.data(), partial.data(), int(grid.y), mean.data(), inverse.data(),
                               kEpsilon, rows, channels);
    });
    for (int c = 0; c < channels; ++c) {
      EXPECT_NEAR(mean[c], layer.mean[c], 1e-4) << rows << " x " << channels << ", channel " << c;
      EXPECT_NEAR(inverse[c], layer.inverse[c], 1e-4 * layer.inverse[c])
          << rows << " x " << channels << ", channel " << c;
    }
  }
}

TEST(FusedKernels, NanPassesTheReluAsInPyTorch) {
  Layer layer(4, 8);
  layer.x[3] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> y(32), mean(8), variance(8);
  std::vector<uint8_t> positive(4);
  run_on_cpu({1, 1, 1}, {1, 4, 1}, [&] {
    normalise_and_clip<float, false>(layer.x.data(), nullptr, y.data(), positive.data(), layer.view(),
                                     {mean.data(), variance.data(), kMomentum, kEpsilon}, 4, 8);
  });
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_TRUE(positive[0] >> 3 & 1);
}

TEST(PoolKernels, TakeTheFirstMaximumAndGiveItTheGradient) {
  for (const auto& [height, width] : {std::pair(8, 6), std::pair(7, 5), std::pair(1, 1), std::pair(2, 9)}) {
    constexpr int kImages = 2, kChannels = 16;
    const PoolShape shape{kImages, height, width, (height + 1) / 2, (width + 1) / 2};
    const int64_t in = int64_t(kImages) * height * width * kChannels,
                  out = int64_t(kImages) * shape.out_height * shape.out_width * kChannels;
    std::vector<float> x(in), y(out, -1), dx(in, -1), dy(out);
    std::mt19937 random(3);
    for (float& value : x) value = float(random() % 4);  // many equal values
    for (float& value : dy) value = float(random() % 100);
    std::vector<uint8_t> maximum(out, 99);
    run_on_cpu({1, 2, 1}, {2, 4, 1},
               [&] { pool<float>(x.data(), y.data(), maximum.data(), shape, kChannels); });
    run_on_cpu({1, 2, 1}, {2, 4, 1},
               [&] { pool_gradient<float>(dy.data(), maximum.data(), dx.data(), shape, kChannels); });
    std::vector<float> expected(in, 0);
    for (int64_t at = 0; at < out; ++at) {
      const int64_t c = at % kChannels, column = at / kChannels % shape.out_width,
                    line = at / kChannels / shape.out_width % shape.out_height,
                    image = at / kChannels / shape.out_width / shape.out_height;
      int64_t best = -1;
      for (int64_t h = std::max<int64_t>(0, 2 * line - 1); h <= std::min<int64_t>(height - 1, 2 * line + 1);
           ++h)
        for (int64_t w = std::max<int64_t>(0, 2 * column - 1);
             w <= std::min<int64_t>(width - 1, 2 * column + 1); ++w) {
          const int64_t from = ((image * height + h) * width + w) * kChannels + c;
          if (best < 0 || x[from] > x[best]) best = from;
        }
      ASSERT_EQ(y[at], x[best]) << height << " x " << width << ", " << at;
      expected[best] += dy[at];
    }
    EXPECT_EQ(dx, expected) << height << " x " << width;
  }
}

}  // namespace bench::fused::fused_kernels_test
