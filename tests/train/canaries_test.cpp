// train: the canaries and the decoding probe run and give positive figures.
#include <gtest/gtest.h>

#include "bench/train/probes.h"

namespace bench::canaries_test {

TEST(Canaries, EachGivesATime) {
  const nlohmann::json times = run_canaries();
  ASSERT_EQ(times.size(), 4u);
  for (const auto& [name, ms] : times.items()) {
    EXPECT_GT(ms.get<double>(), 0) << name;
    EXPECT_LT(ms.get<double>(), 5000) << name;
  }
}

TEST(Canaries, LargerImagesAreDecodedMoreSlowly) {
  const auto rate = [](int image_px) { return probe_decoding(image_px).at("images_per_s").get<double>(); };
  const double large = rate(1024);
  EXPECT_GT(large, 1);
  EXPECT_GT(rate(32), 1.2 * large) << "the rest is decoding, of the same boxes";
}

}  // namespace bench::canaries_test
