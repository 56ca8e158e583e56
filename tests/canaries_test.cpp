// train: the canaries run and give positive times.
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

}  // namespace bench::canaries_test
