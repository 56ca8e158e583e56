// unit: judging a figure against limits, and correcting a family of judgements.
#include "harness/experiment/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/stats/effect.h"

namespace harness::verdict_test {

Verdict verdict_of(const Ratio& figure, const Limits& limits) { return judge(figure, limits).verdict; }

TEST(Verdict, TheWholeIntervalDecides) {
  const Ratio figure{1.5, 1.4, 1.6, 5};
  EXPECT_EQ(verdict_of(figure, {.low = 1.3}), Verdict::holds);
  EXPECT_EQ(verdict_of(figure, {1.3, 1.7}), Verdict::holds);
  EXPECT_EQ(verdict_of(figure, {.high = 1.3}), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(figure, {1.7, 1.9}), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(figure, {.low = 1.45}), Verdict::undecided);
  EXPECT_EQ(verdict_of({}, {.low = 1}), Verdict::cannot_be_told);
  EXPECT_FALSE(judge(figure, {.low = 1.3}).p) << "chance has no part in it";
}

TEST(Verdict, AnEffectUnderTheMarginDecidesNothing) {
  EXPECT_EQ(verdict_of({1.01, 1.005, 1.015, 9}, {.low = 1, .margin = 0.02}), Verdict::undecided);
  EXPECT_EQ(verdict_of({1.03, 1.005, 1.055, 9}, {.low = 1, .margin = 0.02}), Verdict::holds);
  EXPECT_EQ(verdict_of({0.99, 0.985, 0.995, 9}, {.low = 1, .margin = 0.02}), Verdict::undecided);
  EXPECT_EQ(verdict_of({0.97, 0.945, 0.995, 9}, {.low = 1, .margin = 0.02}), Verdict::does_not_hold);
}

TEST(Verdict, TooFewRunsAreCounted) {
  Ratio few{1.5, 1.4, 1.6, 3};
  const Judgement judgement = judge(few, {.low = 1});
  EXPECT_EQ(judgement.verdict, Verdict::undecided);
  EXPECT_EQ(judgement.runs_missing, 2u);
  EXPECT_EQ(judgement.reason, "3 runs of 5");
  few.pooled = true;
  EXPECT_EQ(verdict_of(few, {.low = 1}), Verdict::holds);
  few.pooled = false, few.runs = 6, few.fewest_runs = kFirstLook;
  EXPECT_EQ(judge(few, {.low = 1}).reason, "6 runs of 7");
}

TEST(Verdict, AnIntervalWithoutTheSecondTestIsUndecided) {
  Ratio figure{1.5, 1.1, 2, 5};
  figure.of_logs = true;
  figure.mean = {std::log(1.5), 0.3, 4};
  const Judgement judgement = judge(figure, {.low = 1});
  EXPECT_EQ(judgement.verdict, Verdict::undecided);
  EXPECT_NEAR(*judgement.p, 0.248, 1e-3);
  EXPECT_EQ(judgement.reason, "Student's p is 0.25");
}

// As many runs as it advises do decide: nine experiments of ten with that many, whatever the first few said.
TEST(Verdict, TheAdvisedNumberOfRunsDecides) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.05);
  const auto experiment = [&](size_t runs) {
    std::vector<double> a(runs), b(runs);
    for (double& value : a) value = 1.06 * std::exp(noise(random));
    for (double& value : b) value = std::exp(noise(random));
    return judge(ratio_of(unpaired_effect(a, b)), {.low = 1});
  };
  std::vector<double> advised;
  for (int i = 0; i < 200; ++i)
    if (const Judgement first = experiment(5); !first.decided() && first.runs_needed > 0) {
      EXPECT_GT(first.runs_needed, 5u) << first.reason;
      advised.push_back(double(first.runs_needed));
    }
  ASSERT_GT(advised.size(), 50u);
  std::nth_element(advised.begin(), advised.begin() + ptrdiff_t(advised.size() / 2), advised.end());
  int decided = 0;
  for (int i = 0; i < 100; ++i) decided += experiment(size_t(advised[advised.size() / 2])).decided();
  EXPECT_GT(decided, 40) << "with the median of what was advised: " << advised[advised.size() / 2];
}

TEST(Verdict, AFigureAtItsLimitGetsNoNumberOfRuns) {
  EXPECT_EQ(judge({1.0, 0.9, 1.1, 5}, {.low = 1}).runs_needed, 0u);
  EXPECT_EQ(judge({1.001, 0.9, 1.1, 5}, {.low = 1}).reason, "too near to a limit for more runs to decide it");
  EXPECT_EQ(judge({1.05, 0.95, 1.15, 5}, {.low = 1}).runs_needed, 20u) << "half as wide";
}

TEST(Verdict, AFamilyIsCorrected) {
  const auto family = [] {
    return std::vector<Judgement>{{Verdict::holds, 0.001},
                                  {Verdict::holds, 0.02},
                                  {Verdict::does_not_hold, 0.014},
                                  {Verdict::undecided, 0.5},
                                  {Verdict::holds}};
  };
  const auto pointers = [](std::vector<Judgement>& all) {
    std::vector<Judgement*> some;
    for (Judgement& one : all) some.push_back(&one);
    return some;
  };
  std::vector<Judgement> by_holm = family(), by_bonferroni = family();
  correct(pointers(by_holm));
  EXPECT_DOUBLE_EQ(*by_holm[0].p, 0.004);
  EXPECT_DOUBLE_EQ(*by_holm[2].p, 0.042);
  EXPECT_EQ(by_holm[2].verdict, Verdict::does_not_hold);
  EXPECT_EQ(by_holm[1].verdict, Verdict::holds) << "p 0.042, too, by Holm's step";
  EXPECT_EQ(by_holm[4].verdict, Verdict::holds) << "not by a test";
  correct(pointers(by_bonferroni), 4);
  EXPECT_EQ(by_bonferroni[0].verdict, Verdict::holds);
  EXPECT_EQ(by_bonferroni[1].verdict, Verdict::undecided);
  EXPECT_EQ(by_bonferroni[2].reason, "p is 0.06 after Bonferroni's correction for 4 tests");
}

TEST(Verdict, ALookHasItsOwnLevel) {
  const std::vector<double> a = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06},
                            b = {0.9, 0.92, 0.94, 0.9, 0.95, 0.91, 0.93};
  const Ratio all = ratio_of(paired_effect(a, b)), look = ratio_of(paired_effect(a, b, level_after(7)));
  EXPECT_NEAR(look.p_against(1), all.p_against(1) * kLevel / level_after(7), 1e-12);
  EXPECT_GE(look.p_against(1), all.p_against(1));
}

}  // namespace harness::verdict_test
