// unit: tonight beside few nights: intervals, verdicts, and nights that others spoiled.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/nightly/analysis.h"

namespace harness::first_nights_test {

// Nights of four rows that scatter by 1 %; the last one is `factor` times as long for row 0.
std::vector<Night> nights_of(size_t count, double factor, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<Night> nights;
  for (size_t i = 0; i < count; ++i) {
    Night night;
    night.id = "n" + std::to_string(i);
    night.machine = "Zen";
    for (int row = 0; row < 4; ++row) {
      const double s = 10 * std::exp(noise(random)) * (row == 0 && i + 1 == count ? factor : 1);
      night.rows.push_back({std::to_string(row), "rehearsal", "cpu", "OK", "abc", {s}, {}, 1});
    }
    nights.push_back(night);
  }
  return nights;
}

std::vector<FirstNights> judged(const std::vector<Night>& nights) {
  static std::vector<std::vector<Trend>> kept;
  kept.push_back(trends_of(nights));
  return first_nights(kept.back(), nights.back());
}

TEST(FirstNights, ALargeChangeShowsInTheThirdNight) {
  const auto rows = judged(nights_of(3, 1.3));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].trend->row, "0") << "the slowest first";
  EXPECT_EQ(rows[0].judgement.verdict, Verdict::holds);
  EXPECT_LT(rows[0].ratio.low, 1.3);
  EXPECT_GT(rows[0].ratio.high, 1.3);
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_NE(rows[i].judgement.verdict, Verdict::holds);
  const std::string text = first_nights_text(rows);
  EXPECT_NE(text.find("against 2 nights: slower tonight"), text.npos) << text;
  EXPECT_NE(text.find("are searched from 20 nights on, 17 more"), text.npos) << text;
}

TEST(FirstNights, TheFirstTwoHaveNoIntervalAndSaySo) {
  for (const size_t count : {1, 2}) {
    const std::string text = first_nights_text(judged(nights_of(count, 1.3)));
    EXPECT_NE(text.find("from the third night on, and lasting changes of 4 rows"), text.npos) << text;
  }
}

TEST(FirstNights, EqualNightsAreSlowerOnceInTwentyAtMost) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 400; ++seed)
    for (const FirstNights& row : judged(nights_of(6, 1, seed)))
      alarms += row.judgement.verdict == Verdict::holds;
  EXPECT_LE(alarms, 400 * kLevel * 0.7) << "of the two directions only one is an alarm";
}

TEST(FirstNights, ARowThatScattersMoreIsNoMoreOftenSlower) {
  int alarms = 0;
  constexpr int kSeeds = 600;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::vector<Night> nights = nights_of(5, 1, seed);
    for (Night& night : nights)
      night.rows[0].totals_s[0] = 10 * std::pow(night.rows[0].totals_s[0] / 10, 2.5);
    for (const FirstNights& row : judged(nights))
      alarms += row.trend->row == "0" && row.judgement.verdict == Verdict::holds;
  }
  EXPECT_LE(alarms, kSeeds * kLevel * 0.7);
}

TEST(FirstNights, OfAMetricThatShouldBeHighMoreIsNoHarm) {
  std::vector<Night> nights = nights_of(5, 1);
  for (size_t i = 0; i < nights.size(); ++i)
    for (NightRow& row : nights[i].rows)
      row.metrics["images_per_second"] = 1000 * row.totals_s[0] * (i == 4 ? 1.5 : 1);
  const auto trends = trends_of(nights, followed_metric("images_per_second"));
  for (const FirstNights& row : first_nights(trends, nights.back())) {
    EXPECT_NE(row.judgement.verdict, Verdict::holds);
    EXPECT_LT(row.ratio.high, 1);
  }
}

TEST(FirstNights, ALongSeriesHasNone) { EXPECT_TRUE(judged(nights_of(20, 1.3)).empty()); }

TEST(FirstNights, ANightThatOthersSpoiledIsNoPointOfTheSeries) {
  std::vector<Night> nights = nights_of(4, 1.3);
  nights.back().rows[0].totals_s = {13, 13, 13};
  nights.back().rows[0].spoiled = 2;
  EXPECT_EQ(judged(nights).size(), 3u);
  nights.back().rows[0].spoiled = 1;
  EXPECT_EQ(judged(nights).size(), 4u);
  EXPECT_EQ(decode<NightRow>(encode(nights.back().rows[0])).spoiled, 1);
}

}  // namespace harness::first_nights_test
