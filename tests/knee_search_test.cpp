// unit: the search for the largest number of fed devices, on made-up machines: exact, noisy, never and always
// fed, cut short.
#include "harness/feed/knee_search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace harness::knee_search_test {
namespace {

// A loader of constant speed feeds `most` devices completely.
double utilisation_of(double devices, double most) { return std::min(1.0, most / devices); }

struct Machine {
  double most = 1, noise = 0;
  std::mt19937 random{1};
  int measured = 0, ends_after = 1000;
  MeasureUtilisation oracle() {
    return [this](double devices) -> std::optional<double> {
      if (++measured > ends_after) return std::nullopt;
      std::uniform_real_distribution<double> spread(1 - noise, 1 + noise);
      return std::min(1.0, utilisation_of(devices, most) * (noise > 0 ? spread(random) : 1));
    };
  }
};

TEST(KneeSearch, BracketsTheKneeWithinTheToleranceWhateverTheGuess) {
  for (const double most : {0.03, 0.4, 1.0, 3.3, 47.0, 900.0})
    for (const double wrong : {0.1, 0.7, 1.0, 1.3, 10.0}) {
      Machine machine{most};
      Utilisations utilisations(machine.oracle(), {});
      const Knee knee = find_knee(utilisations, wrong * most / 0.9);
      const std::string at = fmt::format("{} devices, guess wrong by {}", most, wrong);
      ASSERT_TRUE(knee.fed && knee.not_fed && knee.complete) << at;
      EXPECT_LE(*knee.fed, most / 0.9 * 1.0001) << at;
      EXPECT_GE(*knee.not_fed, most / 0.9 * 0.9999) << at;
      EXPECT_LE(*knee.not_fed / *knee.fed, 1.05) << at;
      EXPECT_LE(machine.measured, 20) << at;
    }
}

TEST(KneeSearch, AGoodGuessTakesTwoNumbers) {
  Machine machine{4.5};  // the knee is at 5 devices
  Utilisations utilisations(machine.oracle(), {});
  find_knee(utilisations, 5.0);
  EXPECT_EQ(utilisations.all().size(), 2u);
}

TEST(KneeSearch, OnlyNumbersNearTheLimitAreMeasuredAgain) {
  Machine machine{4.5};
  Utilisations utilisations(machine.oracle(), {});
  EXPECT_EQ(utilisations.fed(2), true);
  EXPECT_EQ(machine.measured, 1);
  EXPECT_EQ(utilisations.fed(4.95), true);  // 90.9 %
  EXPECT_EQ(machine.measured, 4);
  EXPECT_EQ(utilisations.fed(4.95), true);
  EXPECT_EQ(machine.measured, 4) << "decided already";
}

TEST(KneeSearch, TheMedianDecidesNearTheLimit) {
  const std::vector<double> measured = {0.89, 0.92, 0.91};
  size_t next = 0;
  Utilisations utilisations([&](double) { return measured.at(next++); }, {});
  EXPECT_EQ(utilisations.fed(3), true);
  EXPECT_EQ(utilisations.median(3), 0.91);
}

TEST(KneeSearch, WholeNumbersAreConfirmedByOneMore) {
  for (const auto& [most, whole] :
       {std::pair{4.5, 5}, {4.49, 4}, {0.95, 1}, {0.5, 0}, {0.9, 1}, {88.0, 97}, {900.0, 1000}, {2.0, 2}}) {
    Machine machine{most};
    Utilisations utilisations(machine.oracle(), {});
    const Knee knee = find_knee(utilisations, most / 0.9);
    EXPECT_EQ(confirm_whole_number(utilisations, knee), whole) << most;
    if (whole > 0) {
      EXPECT_GE(utilisations.median(whole), 0.9);
    }
    EXPECT_LT(utilisations.median(whole + 1), 0.9);
  }
}

TEST(KneeSearch, ADisturbedMeasurementIsFoundByItsContradiction) {
  // Another program takes half of the cores while the second number is measured.
  for (const int disturbed : {1, 2, 3, 4}) {
    Machine machine{7.1};
    const MeasureUtilisation quiet = machine.oracle();
    int measured = 0;
    Utilisations utilisations(
        [&](double devices) { return quiet(++measured == disturbed ? 2 * devices : devices); }, {});
    utilisations.fed(64);
    EXPECT_EQ(confirm_whole_number(utilisations, find_knee(utilisations, 7.5)), 7) << disturbed;
  }
}

TEST(KneeSearch, NoiseMovesTheAnswerByNoMoreThanItself) {
  int confirmed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Machine machine{2.0 + double(seed) / 40, 0.04};
    machine.random.seed(seed);
    Utilisations utilisations(machine.oracle(), {});
    const double knee_at = machine.most / 0.9;
    const Knee knee = find_knee(utilisations, knee_at);
    ASSERT_TRUE(knee.fed && knee.not_fed);
    EXPECT_NEAR(*knee.fed / knee_at, 1, 0.10) << seed;
    const auto whole = confirm_whole_number(utilisations, knee);
    if (!whole) continue;
    ++confirmed;
    EXPECT_NEAR(double(*whole), std::floor(knee_at), 1) << seed;
    EXPECT_EQ(utilisations.fed(double(*whole)), true) << seed;
    EXPECT_EQ(utilisations.fed(double(*whole + 1)), false) << seed;
  }
  EXPECT_GE(confirmed, 195);
}

TEST(KneeSearch, AMachineThatFeedsNothingEndsAtTheSmallestNumber) {
  Utilisations utilisations([](double) { return 0.5; }, {});
  const Knee knee = find_knee(utilisations, 1);
  EXPECT_FALSE(knee.fed);
  EXPECT_TRUE(knee.complete);
  EXPECT_EQ(knee.not_fed, SearchRule{}.least);
  EXPECT_LT(utilisations.all().size(), 25u);
  EXPECT_EQ(confirm_whole_number(utilisations, knee), 0);
}

TEST(KneeSearch, AMachineThatFeedsEverythingEndsAtTheLargestNumber) {
  SearchRule rule;
  rule.most = 500;
  Utilisations utilisations([](double) { return 1.0; }, rule);
  const Knee knee = find_knee(utilisations, 1);
  EXPECT_FALSE(knee.not_fed);
  EXPECT_TRUE(knee.complete);
  EXPECT_EQ(knee.fed, 500);
  EXPECT_EQ(confirm_whole_number(utilisations, knee), std::nullopt) << "there is no number that isn't fed";
}

TEST(KneeSearch, WithoutAFigureItKeepsWhatItHas) {
  Machine machine{4.5};
  machine.ends_after = 2;
  Utilisations utilisations(machine.oracle(), {});
  const Knee knee = find_knee(utilisations, 20);
  EXPECT_FALSE(knee.complete);
  EXPECT_TRUE(knee.not_fed);
  EXPECT_EQ(confirm_whole_number(utilisations, knee), std::nullopt);
}

}  // namespace
}  // namespace harness::knee_search_test
