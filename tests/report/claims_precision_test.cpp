// unit: verdicts on the claims about 16-bit numbers, each way they can come out
#include "tests/support/claim_records.h"

namespace harness::claims_precision_test {

TEST(Claim4, SixteenBitsShortenComputing) {
  ClaimRecords records, slower;
  for (ClaimRecords* some : {&records, &slower}) {
    some->add("tmpfs", step_of(1, 30));
    some->add("o1", step_of(1, 20));
  }
  records.add("o2", step_of(1, 18));
  EXPECT_EQ(records.verdict(4, 0), ClaimVerdict::holds) << records.reason(4, 0);
  slower.add("o2", step_of(1, 40));
  EXPECT_EQ(slower.verdict(4, 0), ClaimVerdict::does_not_hold) << "O1 alone is not enough";
  EXPECT_NE(slower.reason(4, 0).find("O2"), std::string::npos);
  ClaimRecords other_type = records;
  other_type.set("o2", "/precision/sixteen_bit", "bfloat16");
  EXPECT_NE(other_type.reason(4, 0).find("in bfloat16, the article's type is float16"), std::string::npos);
  ClaimRecords emulating = records;
  emulating.set("", "/device/kind", "cpu");
  EXPECT_EQ(emulating.verdict(4, 0), ClaimVerdict::cannot_be_tested)
      << "the processor lacks the instructions";
  emulating.set("", "/machine/sixteen_bit_instructions", {"avx512_bf16"});
  EXPECT_EQ(emulating.verdict(4, 0), ClaimVerdict::holds);
  emulating.set("o2", "/precision/computed_in", "float32");
  EXPECT_EQ(emulating.verdict(4, 0), ClaimVerdict::cannot_be_tested)
      << "the processor has them, but LibTorch was not allowed to use them";
  EXPECT_NE(emulating.reason(4, 0).find("no 16-bit instructions"), std::string::npos)
      << emulating.reason(4, 0);
  expect_untestable_without("o1", records, 4, 0);
}

ClaimPart part_on_accuracy(const AccuracyRow& mode) {
  ClaimRecords records;
  records.add("tmpfs", step_of(1, 30));
  Summary summary = records.summary();
  summary.accuracy = {mode};
  return claims_of(summary)[3].parts.at(1);
}

ClaimVerdict verdict_on_accuracy(const AccuracyRow& mode) { return part_on_accuracy(mode).verdict; }

TEST(Claim4, AccuracyNeedsTheArticlesTrainingAndSeveralSeeds) {
  AccuracyRow mode;
  mode.precision = "o2";
  mode.kind = "real";
  mode.status = "OK";
  mode.paired_seeds = 5;
  mode.classes = 1000;
  mode.budget_images = 90 * int64_t{1281167};
  mode.less_o0.median = -0.001, mode.less_o0.low = -0.003, mode.less_o0.high = 0.002;
  EXPECT_EQ(verdict_on_accuracy(mode), ClaimVerdict::holds);
  EXPECT_NE(part_on_accuracy(mode).reason.find("holds above -0.5 points; can't show smaller losses"),
            std::string::npos)
      << part_on_accuracy(mode).reason;
  mode.less_o0.low = -0.02;
  EXPECT_EQ(verdict_on_accuracy(mode), ClaimVerdict::undecided);
  mode.less_o0.median = -0.015, mode.less_o0.high = -0.01;
  EXPECT_EQ(verdict_on_accuracy(mode), ClaimVerdict::does_not_hold);
  AccuracyRow synthetic = mode, few = mode, failed = mode, two_classes = mode, two_epochs = mode;
  two_classes.classes = 2;
  two_epochs.budget_images = 2560000;
  EXPECT_NE(part_on_accuracy(two_epochs).reason.find("after 2.0 passes over ImageNet"), std::string::npos)
      << part_on_accuracy(two_epochs).reason;
  synthetic.kind = "synthetic";
  few.paired_seeds = 4;
  failed.status = "DIVERGED";
  for (const AccuracyRow& other : {synthetic, few, failed, two_classes, two_epochs})
    EXPECT_EQ(verdict_on_accuracy(other), ClaimVerdict::cannot_be_tested);
}

TEST(Claim4, OneDivergedRowShowsTheRiskAndNoneShowsNothing) {
  ClaimRecords records;
  records.add("o2", step_of(1, 18));
  EXPECT_EQ(records.verdict(4, 2), ClaimVerdict::cannot_be_tested);
  records.add_failed("o3", "DIVERGED", "loss is not finite from batch 12 on");
  EXPECT_EQ(records.verdict(4, 2), ClaimVerdict::holds);
}

TEST(Claim4, TheTotalFallsNoticeablyWithO3) {
  const auto with = [](double compute, double load) {
    ClaimRecords records;
    records.add("tmpfs", step_of(1, 30));
    records.add("o3", step_of(load, compute));
    return records;
  };
  EXPECT_EQ(with(20, 1).verdict(4, 3), ClaimVerdict::holds) << with(20, 1).reason(4, 3);
  EXPECT_EQ(with(29.5, 1).verdict(4, 3), ClaimVerdict::does_not_hold) << "1.5 % are not noticeable";
  EXPECT_EQ(with(20, 11).verdict(4, 3), ClaimVerdict::does_not_hold) << "computing alone is shorter";
  ClaimRecords emulating = with(20, 1);
  emulating.set("", "/device/kind", "cpu");
  EXPECT_EQ(emulating.verdict(4, 3), ClaimVerdict::cannot_be_tested);
  expect_untestable_without("o3", with(20, 1), 4, 3);
}

TEST(Claim14, HalfPrecisionGainsOnDdpToo) {
  ClaimRecords faster, slower;
  faster.add("12", step_of(1, 40));
  faster.add("16", step_of(1, 30));
  slower.add("12", step_of(1, 30));
  slower.add("16", step_of(1, 40));
  EXPECT_EQ(faster.verdict(14), ClaimVerdict::holds) << faster.reason(14);
  EXPECT_EQ(slower.verdict(14), ClaimVerdict::does_not_hold);
  expect_untestable_without("16", faster, 14, 0);
}

}  // namespace harness::claims_precision_test
