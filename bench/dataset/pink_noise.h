// Noise with the spectrum of photographs (equal energy per octave), built by repeatedly doubling a small
// grid.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

// SplitMix64 (Steele et al., OOPSLA 2014). Each (seed, image) pair gets an independent stream.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform(double low = 0, double high = 1) { return low + (high - low) * (next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

struct Grid {
  int width = 0, height = 0;
  std::vector<int16_t> values;
  void resize(int w, int h);  // keeps its memory from image to image
  int16_t* row(int y) { return values.data() + static_cast<size_t>(y) * width; }
  const int16_t* row(int y) const { return values.data() + static_cast<size_t>(y) * width; }
};

// Size of level k of a pyramid over n pixels, with the margin that doubling needs.
inline int level_size(int n, int k) { return ((n + (1 << k) - 1) >> k) + 2; }

// Doubles the size by linear interpolation. `out` keeps its size, which is at most 2 (in - 1) per side.
void double_size(const Grid& in, Grid& out);

// Adds white noise of standard deviation 2 * gain.
void add_noise(Grid& grid, int gain, Random& random);

// Builds noise pyramids; reuses its grids from image to image.
class Pyramid {
 public:
  // Adds noise of gain(level) at each level from `coarsest` down to `finest`, for width x height pixels. The
  // result has the size of level `finest` and is valid until the next call.
  template <class Gain>
  Grid& build(int width, int height, int coarsest, int finest, Random& random, Gain gain) {
    current_.resize(level_size(width, coarsest), level_size(height, coarsest));
    std::fill(current_.values.begin(), current_.values.end(), 0);
    add_noise(current_, gain(coarsest), random);
    for (int level = coarsest - 1; level >= finest; --level) {
      grow(width, height, level);
      if (gain(level) > 0) add_noise(current_, gain(level), random);
    }
    return current_;
  }
  // Continues doubling the result from level `from` down to `finest` without adding noise.
  Grid& smooth(int width, int height, int from, int finest) {
    for (int level = from - 1; level >= finest; --level) grow(width, height, level);
    return current_;
  }

 private:
  void grow(int width, int height, int level) {
    next_.resize(level_size(width, level), level_size(height, level));
    double_size(current_, next_);
    std::swap(current_, next_);
  }
  Grid current_, next_;
};

}  // namespace bench
