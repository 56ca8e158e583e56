// unit: all 17 verdicts as one table: scale, rows that are missing, width
#include <algorithm>
#include <cmath>
#include <random>

#include "harness/report/claim_question.h"
#include "harness/report/summary/ratio.h"
#include "tests/support/claim_records.h"
#include "tests/support/failure_of.h"

namespace harness::claims_test {

TEST(Claims, RowsThatDidNotRunAreNamed) {
  expect("one of six", {{"7", step_of(1, 30)}}, {},
         {{"5a", ClaimVerdict::cannot_be_tested, "[0] [1] [2] [4] [5] did not run"}});
}

TEST(Claims, SmokeScaleGivesNoVerdict) {
  ClaimRecords records("smoke");
  records.add("disk", step_of(90, 28));
  records.add("17", step_of(1, 40));
  for (const Claim& claim : claims_of(records.summary())) {
    EXPECT_EQ(claim.verdict, ClaimVerdict::cannot_be_tested) << claim.number;
    EXPECT_EQ(claim.mark, "SMOKE");
  }
}

TEST(Claims, AssertionsThatNoRowMeasuresAreNamedWithTheReason) {
  ClaimRecords records;
  records.add("7", step_of(1, 30));
  for (const auto& [claim, subject] :
       {std::pair(2, "HDF5"), {4, "kernels themselves"}, {13, "more stably"}}) {
    const std::vector<Claim> claims = claims_of(records.summary());
    const std::vector<ClaimPart>& parts = claims.at(size_t(claim - 1)).parts;
    const auto part = std::find_if(parts.begin(), parts.end(), [text = subject](const ClaimPart& some) {
      return some.text.find(text) != std::string::npos;
    });
    ASSERT_NE(part, parts.end()) << subject;
    EXPECT_EQ(part->verdict, ClaimVerdict::not_measured) << part->reason;
  }
}

TEST(Claims, EachTestOfAPartMayRefuteByChance) {
  const auto test_of = [](double low, double high) {
    Ratio figure{.value = (low + high) / 2, .low = low, .high = high, .runs = 9};
    figure.mean = {figure.value, (high - low) / 4.6, 8};
    return harness::Test{"a figure", figure, {.low = 1}};
  };
  const harness::Test refuted = test_of(0.8, 0.98), holds = test_of(1.5, 1.7), surer = test_of(0.3, 0.4);
  const double alone = *judged({refuted}).test.p;
  EXPECT_EQ(judged({refuted}).verdict, ClaimVerdict::does_not_hold);
  EXPECT_NEAR(*judged({holds, refuted, holds}).test.p, 3 * alone, 1e-9);
  EXPECT_LT(*judged({refuted, surer}).test.p, alone) << "the surest decides";
  EXPECT_EQ(judged({refuted, surer}).figure, judged({surer}).figure);
}

TEST(Claims, AnotherMatrixHasNone) {
  ClaimRecords records;
  records.add("7", step_of(1, 30));
  records.set("7", "/config/identity", "own");
  EXPECT_TRUE(claims_of(records.summary()).empty());
  EXPECT_TRUE(claims_grid(records.summary()).empty());
}

TEST(Claims, GridStatesTheScaleAndFitsAConsole) {
  ClaimRecords records("rehearsal");
  records.add("disk", step_of(90, 28), 1);
  const Grid grid = claims_grid(records.summary());
  EXPECT_SAYS(grid.above.at(0), "REHEARSAL");
  std::istringstream lines(console_text(grid));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), kConsoleWidth) << line;
  EXPECT_EQ(claims_of(records.summary()).size(), 17u);
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
}

TEST(Grid, LongCellsContinueUnderThemselves) {
  Grid grid;
  grid.title = "grid";
  grid.columns = {{"a", true}, {"why", true, false, 9}};
  grid.rows = {{"1", "four words of text"}, {"2", "short"}};
  EXPECT_EQ(console_text(grid), "grid\na why\n1 four\n  words of\n  text\n2 short\n");
}

Claim claim_with(ClaimVerdict verdict, std::optional<double> p) {
  Claim claim;
  ClaimPart& part = claim.parts.emplace_back();
  part.verdict = verdict;
  part.test = {verdict == ClaimVerdict::holds           ? Verdict::holds
               : verdict == ClaimVerdict::does_not_hold ? Verdict::does_not_hold
                                                        : Verdict::undecided,
               p};
  return claim;
}

TEST(Claims, AreCountedInOneLine) {
  std::vector<Claim> claims(4);
  claims[0].verdict = claims[1].verdict = ClaimVerdict::holds;
  claims[2].verdict = ClaimVerdict::does_not_hold;
  claims[3].verdict = ClaimVerdict::undecided;
  EXPECT_EQ(claims_line(claims), "2 hold, 1 does not, 0 by construction, 1 undecided, 0 not tested here");
  EXPECT_EQ(claims_line({}), "");
}

// 12 and 16 ran once, other rows of their kind twice: a verdict all the same.
TEST(Claims, RowsThatRanOnceBorrowTheScatterOfOthers) {
  std::vector<RowTimes> rows = {{"12", step_of(1, 80), 1}, {"16", step_of(1, 60), 1}};
  for (const char* id : {"13", "14", "15"}) rows.push_back({id, step_of(1, 80), 2});
  expect("pooled", rows, {}, {{"14a", ClaimVerdict::holds, " pooled"}});
}

TEST(Claims, ThePOfEachPartIsCorrectedForTheirNumber) {
  std::vector<Claim> claims = {claim_with(ClaimVerdict::holds, 0.001), claim_with(ClaimVerdict::holds, 0.02),
                               claim_with(ClaimVerdict::does_not_hold, 0.03),
                               claim_with(ClaimVerdict::undecided, 1), claim_with(ClaimVerdict::holds, {})};
  correct_for_their_number(claims);
  EXPECT_EQ(claims[0].parts[0].verdict, ClaimVerdict::holds);
  EXPECT_DOUBLE_EQ(*claims[0].parts[0].test.p, 0.004);
  EXPECT_EQ(claims[1].parts[0].verdict, ClaimVerdict::undecided);
  EXPECT_SAYS(claims[1].parts[0].reason, "p is 0.06 after Holm's correction for 4 tests");
  EXPECT_EQ(claims[2].parts[0].verdict, ClaimVerdict::undecided);
  EXPECT_EQ(claims[4].parts[0].verdict, ClaimVerdict::holds);  // not by a test
}

TEST(Claims, PartsHaveThePOfTheirTest) {
  ClaimRecords records;
  records.add("disk", {{"load", 75}, {"forward", 25}});
  ASSERT_TRUE(records.part(1).test.p);
  EXPECT_LT(*records.part(1).test.p, 1e-6);
  ClaimRecords few;
  few.add("disk", {{"load", 75}, {"forward", 25}}, 2);
  EXPECT_FALSE(few.part(1).test.p);
}

// Twenty comparisons of five runs with five of the same row: any verdict is false.
TEST(Claims, FalseVerdictsAreRareOverAllTestsOfARun) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.03);
  constexpr int kDraws = 1000, kTests = 20;
  int uncorrected = 0, wrong = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<Claim> claims;
    for (int test = 0; test < kTests; ++test) {
      std::vector<double> a(5), b(5);
      for (double& value : a) value = std::exp(noise(random));
      for (double& value : b) value = std::exp(noise(random));
      const Effect effect = unpaired_effect(a, b);
      const bool is_decided = effect.low > 1 || effect.high < 1;
      claims.push_back(
          claim_with(is_decided ? ClaimVerdict::holds : ClaimVerdict::undecided, is_decided ? effect.p : 1));
    }
    const auto any = [&] {
      return std::any_of(claims.begin(), claims.end(),
                         [](const Claim& claim) { return claim.parts[0].verdict == ClaimVerdict::holds; });
    };
    uncorrected += any();
    correct_for_their_number(claims);
    wrong += any();
  }
  EXPECT_LE(wrong, kDraws * 0.065);  // 5 %, with the error of 1,000 draws
  EXPECT_GT(uncorrected, kDraws * 0.3);
}

}  // namespace harness::claims_test
