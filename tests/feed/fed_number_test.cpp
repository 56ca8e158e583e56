// unit: the largest whole number of fed devices, on made-up machines: exact, noisy, never and always fed, cut
// short.
#include "harness/feed/fed_number.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace harness::fed_number_test {
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

TEST(FedNumber, OnlyNumbersNearTheLimitAreMeasuredAgain) {
  Machine machine{4.5};
  Utilisations utilisations(machine.oracle());
  EXPECT_EQ(utilisations.fed(2), true);
  EXPECT_EQ(machine.measured, 1);
  EXPECT_EQ(utilisations.fed(4.95), true);  // 90.9 %
  EXPECT_EQ(machine.measured, 4);
  EXPECT_EQ(utilisations.fed(4.95), true);
  EXPECT_EQ(machine.measured, 4) << "decided already";
}

TEST(FedNumber, TheMedianDecidesNearTheLimit) {
  const std::vector<double> measured = {0.89, 0.92, 0.91};
  size_t next = 0;
  Utilisations utilisations([&](double) { return measured.at(next++); });
  EXPECT_EQ(utilisations.fed(3), true);
  EXPECT_EQ(utilisations.median(3), 0.91);
}

TEST(FedNumber, ADisturbedMeasurementIsFoundByItsContradiction) {
  // Another program takes half of the cores while the second number is measured.
  for (const int disturbed : {1, 2, 3, 4}) {
    Machine machine{7.1};
    const MeasureUtilisation quiet = machine.oracle();
    int measured = 0;
    Utilisations utilisations(
        [&](double devices) { return quiet(++measured == disturbed ? 2 * devices : devices); });
    utilisations.fed(64);
    EXPECT_EQ(confirm_whole_number(utilisations, 7.5), 7) << disturbed;
  }
}

TEST(FedNumber, WholeNumbersAreConfirmedByOneMoreWhateverTheGuess) {
  for (const auto& [most, whole] :
       {std::pair{4.5, 5}, {4.49, 4}, {0.95, 1}, {0.5, 0}, {0.9, 1}, {88.0, 97}, {900.0, 1000}, {2.0, 2}})
    for (const double wrong : {0.7, 0.9, 1.0, 1.1, 3.0}) {
      Machine machine{most};
      Utilisations utilisations(machine.oracle());
      EXPECT_EQ(confirm_whole_number(utilisations, wrong * most / 0.9), whole) << most << ", " << wrong;
      if (whole > 0) {
        EXPECT_GE(utilisations.median(whole), 0.9);
      }
      EXPECT_LT(utilisations.median(whole + 1), 0.9);
      EXPECT_LE(machine.measured, 30) << most << ", " << wrong;
    }
}

TEST(FedNumber, NoiseMovesTheAnswerByNoMoreThanItself) {
  int confirmed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Machine machine{2.0 + double(seed) / 40, 0.04};
    machine.random.seed(seed);
    Utilisations utilisations(machine.oracle());
    const double knee_at = machine.most / 0.9;
    const auto whole = confirm_whole_number(utilisations, knee_at);
    if (!whole) continue;
    ++confirmed;
    EXPECT_NEAR(double(*whole), std::floor(knee_at), 1) << seed;
    EXPECT_EQ(utilisations.fed(double(*whole)), true) << seed;
    EXPECT_EQ(utilisations.fed(double(*whole + 1)), false) << seed;
  }
  EXPECT_GE(confirmed, 195);
}

TEST(FedNumber, WithoutAFigureOrAnEndThereIsNone) {
  Machine machine{4.5};
  machine.ends_after = 1;
  Utilisations cut_short(machine.oracle());
  EXPECT_EQ(confirm_whole_number(cut_short, 5), std::nullopt);
  Utilisations endless([](double) { return 1.0; });
  EXPECT_EQ(confirm_whole_number(endless, 1), std::nullopt);
  Utilisations nothing([](double) { return 0.5; });
  EXPECT_EQ(confirm_whole_number(nothing, 3), 0);
}

}  // namespace
}  // namespace harness::fed_number_test
