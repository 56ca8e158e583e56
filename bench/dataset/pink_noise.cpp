// Doubling of grids and white noise from a table, in loops that the compiler can vectorise.
#include "bench/dataset/pink_noise.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

constexpr int kTable = 1 << 17;  // fits the second-level cache; rows start at random places in it
constexpr int kRow = 8192;       // longest row that one lookup covers

// Bytes with a standard deviation of 32, from the sum of uniform numbers: cheaper than a normal draw per
// pixel.
const std::array<int8_t, kTable + kRow>& noise_table() {
  static const auto table = [] {
    std::array<int8_t, kTable + kRow> t;
    Random random(20120930);
    for (int i = 0; i < kTable; ++i) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += random.uniform(-0.5, 0.5);
      t[i] = static_cast<int8_t>(std::clamp(std::lround(sum * 32 * std::sqrt(3.0)), -127l, 127l));
    }
    std::copy_n(t.begin(), kRow, t.begin() + kTable);
    return t;
  }();
  return table;
}

}  // namespace

void Grid::resize(int w, int h) {
  width = w;
  height = h;
  values.resize(static_cast<size_t>(w) * h);
}

void double_size(const Grid& in, Grid& out) {
  thread_local std::vector<int16_t> between;
  between.resize(in.width);
  for (int y = 0; y < out.height; ++y) {
    const int16_t* above = in.row(y / 2);
    const int16_t* source = above;
    if (y % 2) {
      const int16_t* below = in.row(y / 2 + 1);
      for (int x = 0; x < in.width; ++x) between[x] = static_cast<int16_t>((above[x] + below[x]) >> 1);
      source = between.data();
    }
    int16_t* target = out.row(y);
    const int pairs = out.width / 2;
    for (int x = 0; x < pairs; ++x) {
      target[2 * x] = source[x];
      target[2 * x + 1] = static_cast<int16_t>((source[x] + source[x + 1]) >> 1);
    }
    if (out.width % 2) target[out.width - 1] = source[pairs];
  }
}

void add_noise(Grid& grid, int gain, Random& random) {
  const auto& table = noise_table();
  const auto factor = static_cast<int16_t>(gain);
  for (int y = 0; y < grid.height; ++y) {
    int16_t* row = grid.row(y);
    for (int begin = 0; begin < grid.width; begin += kRow) {
      const int8_t* noise = table.data() + random.next() % kTable;
      const int count = std::min(kRow, grid.width - begin);
      for (int x = 0; x < count; ++x)
        row[begin + x] = static_cast<int16_t>(row[begin + x] + ((noise[x] * factor) >> 4));
    }
  }
}

}  // namespace bench
