// unit: verdicts on the claims about 16-bit numbers and one process per device, each way they can come out
#include "tests/support/claim_records.h"
#include "tests/support/failure_of.h"

namespace harness::claims_processes_test {

using enum ClaimVerdict;

const Change kProcessor = {"", "/device/kind", "cpu"};

// Two rows that differ in the time of computing alone.
std::vector<RowTimes> computing(const std::string& a, double a_ms, const std::string& b, double b_ms) {
  return {{a, step_of(1, a_ms)}, {b, step_of(1, b_ms)}};
}

TEST(Claim4, SixteenBitsShortenComputing) {
  const auto three = [](double o2_ms) -> std::vector<RowTimes> {
    return {{"tmpfs", step_of(1, 30)}, {"o1", step_of(1, 20)}, {"o2", step_of(1, o2_ms)}};
  };
  const Change instructions = {"", "/machine/sixteen_bit_instructions", {"avx512_bf16"}};
  expect("as stated", three(18), {}, {{"4a", holds}});
  expect("O1 alone is not enough", three(40), {}, {{"4a", does_not_hold, "O2"}});
  expect("another type", three(18), {{"o2", "/precision/sixteen_bit", "bfloat16"}},
         {{"4a", holds, "in bfloat16, the article's type is float16"}});
  expect("the processor lacks the instructions", three(18), {kProcessor}, {{"4a", cannot_be_tested}});
  expect("the processor has them", three(18), {kProcessor, instructions}, {{"4a", holds}});
  expect("the processor has them, but LibTorch was not allowed to use them", three(18),
         {kProcessor, instructions, {"o2", "/precision/computed_in", "float32"}},
         {{"4a", cannot_be_tested, "no 16-bit instructions"}});
}

TEST(Claim4, AccuracyNeedsTheArticlesTrainingAndSeveralSeeds) {
  ClaimRecords records;
  records.add("tmpfs", step_of(1, 30));
  Summary summary = records.summary();
  const auto expect = [&](const AccuracyRow& mode, ClaimVerdict verdict, const std::string& says = "") {
    summary.accuracy = {mode};
    const ClaimPart part = claims_of(summary)[3].parts.at(1);
    EXPECT_STREQ(text_of(part.verdict), text_of(verdict)) << part.reason;
    EXPECT_SAYS(part.reason, says);
  };
  AccuracyRow mode;
  mode.precision = "o2";
  mode.kind = "real";
  mode.status = "OK";
  mode.paired_seeds = 5;
  mode.classes = 1000;
  mode.budget_images = 90 * int64_t{1281167};
  mode.less_o0 = {-0.001, -0.003, 0.002};
  expect(mode, holds, "holds above -0.5 points; can't show smaller losses");
  mode.less_o0.low = -0.02;
  expect(mode, undecided);
  mode.less_o0 = {-0.015, -0.02, -0.01};
  expect(mode, does_not_hold);
  AccuracyRow synthetic = mode, few = mode, failed = mode, two_classes = mode, two_epochs = mode;
  two_classes.classes = 2;
  two_epochs.budget_images = 2560000;
  synthetic.kind = "synthetic";
  few.paired_seeds = 4;
  failed.status = "DIVERGED";
  for (const AccuracyRow& other : {synthetic, few, failed, two_classes}) expect(other, cannot_be_tested);
  expect(two_epochs, cannot_be_tested, "after 2.0 passes over ImageNet");
}

TEST(Claim4, OneDivergedRowShowsTheRiskAndNoneShowsNothing) {
  const std::vector<RowTimes> rows = computing("o2", 18, "o3", 18);
  expect("none", rows, {}, {{"4c", cannot_be_tested}});
  expect("one", rows, {{"o3", "/status", "DIVERGED"}}, {{"4c", holds}});
}

TEST(Claim4, TheTotalFallsNoticeablyWithO3) {
  const auto o3 = [](double compute, double load) -> std::vector<RowTimes> {
    return {{"tmpfs", step_of(1, 30)}, {"o3", step_of(load, compute)}};
  };
  expect("as stated", o3(20, 1), {}, {{"4d", holds}});
  expect("1.5 % are not noticeable", o3(29.5, 1), {}, {{"4d", does_not_hold}});
  expect("computing alone is shorter", o3(20, 11), {}, {{"4d", does_not_hold}});
  expect("a processor", o3(20, 1), {kProcessor}, {{"4d", cannot_be_tested}});
}

TEST(Claims10And11, DdpTakesAThirdOffWithTheSameComputing) {
  // DP [10] and DDP [12].
  const auto two = [](double dp_compute, double ddp_compute, double dp_h2d, double ddp_h2d,
                      double dp_scatter) -> std::vector<RowTimes> {
    return {{"10", with(step_of(1, dp_compute), {{"h2d", dp_h2d}, {"scatter", dp_scatter}})},
            {"12", with(step_of(1, ddp_compute), {{"h2d", ddp_h2d}})}};
  };
  const std::vector<RowTimes> stated = two(20, 20, 4, 1, 7);
  expect("as stated", stated, {}, {{"10a", holds}, {"10b", holds}, {"11a", holds}});
  expect("opposite", two(20, 40, 1, 1, 1), {},
         {{"10a", does_not_hold}, {"10b", does_not_hold}, {"11a", does_not_hold}});
  expect("far more than a third", two(20, 20, 1, 1, 40), {}, {{"10a", does_not_hold}});
  expect("10 % from a fourth", two(20, 20, 4, 1.1, 7), {}, {{"10b", holds}});
  expect("25 % from a fourth", two(20, 20, 4, 0.8, 7), {}, {{"10b", does_not_hold}});
  expect("slow SGD", stated, {{"12", "/device_ms/step", json(4, json(4, 1.2))}},
         {{"11a", does_not_hold, "step, [10] / [12]"}});
  expect("another machine", stated, {{"12", "/machine/host", "another"}},
         {{"10a", cannot_be_tested, "also differ in machine/host"}});
  expect("another model", stated, {{"12", "/config/model", "resnet50"}},
         {{"11a", cannot_be_tested, "also differ in model"}});
}

TEST(Claims10To13, SayNothingOfRanksThatShareCores) {
  std::vector<RowTimes> rows;
  for (const char* id : {"10", "12", "13", "14", "15"}) rows.push_back({id, step_of(1, 40)});
  expect("two cores", rows, {kProcessor, {"", "/machine/cores", 2}},
         {{"10a", cannot_be_tested},
          {"10b", cannot_be_tested},
          {"11a", cannot_be_tested},
          {"12a", cannot_be_tested, "4 ranks and 12 loader threads share 2 cores"},
          {"13a", cannot_be_tested},
          {"13b", cannot_be_tested}},
         "rehearsal");
}

TEST(Claim10, TheTimeOfCollectivesFluctuatesBetweenRanks) {
  const auto spans = [](const std::vector<double>& by_rank) -> Change {
    json communication;
    for (const double ms : by_rank) communication.push_back(json(4, ms));
    return {"12", "/spans_ms", {{"communication", communication}}};
  };
  const std::vector<RowTimes> ddp = {{"12", step_of(1, 40)}};
  expect("apart", ddp, {spans({8, 10, 10, 12})}, {{"10c", holds, "40 % ("}});
  expect("10 %", ddp, {spans({9.5, 10, 10, 10.5})}, {{"10c", does_not_hold}});
  expect("one rank's time", ddp, {spans({10})}, {{"10c", cannot_be_tested}});
  expect("the host's time", ddp, {spans({8, 10, 10, 12}), {"", "/device/kind", "emulated"}},
         {{"10c", cannot_be_tested}});
}

TEST(Claim12, PackagesAreTestedForEqualityAndDdpMustBeatBothOthers) {
  const auto three = [](double apex, double horovod, int repeats = 5) -> std::vector<RowTimes> {
    return {{"12", step_of(1, 40), repeats},
            {"13", step_of(1, apex), repeats},
            {"15", step_of(1, horovod), repeats}};
  };
  expect("equal", three(40, 40.5), {}, {{"12a", holds, "not the packages"}});
  expect("slower", three(40, 50), {}, {{"12a", does_not_hold}});
  expect("faster is as unequal as slower", three(40, 30), {}, {{"12a", does_not_hold}});
  expect("one run shows no equality", three(40, 40, 1), {}, {{"12a", undecided}});
  expect("both are slower", three(42, 43), {}, {{"12b", holds, "not the packages"}});
  expect("Horovod is faster", three(42, 38), {}, {{"12b", does_not_hold}});
  expect("Horovod is as fast", three(42, 40), {}, {{"12b", does_not_hold}});
}

TEST(Claim13, SyncBnAddsALittleAndWaitsAtItsFirstLayer) {
  const auto spans = [](double ms) { return json(4, json(4, ms)); };
  const auto waits = [&](double first, double later) -> std::vector<Change> {
    return {{"14", "/communication", {{"ceiling_ms", 1.0}}},
            {"14", "/spans_ms", {{"sync_bn/bn1", spans(first)}, {"sync_bn/layer1.0.bn1", spans(later)}}}};
  };
  std::vector<Change> in_backward = waits(5, 0.5);
  in_backward.push_back({"14", "/spans_ms/sync_bn_backward", spans(9)});
  expect("as stated", computing("13", 40, "14", 43), waits(5, 0.5), {{"13a", holds}, {"13b", holds}});
  expect("opposite", computing("13", 40, "14", 60), waits(1, 1),
         {{"13a", does_not_hold}, {"13b", does_not_hold}});
  expect("shorter than the first, but 14 % of the step", computing("13", 40, "14", 60), waits(30, 9),
         {{"13b", does_not_hold, "/ step; holds below 5.0 %"}});
  expect("backward waits too", computing("13", 40, "14", 43), in_backward, {{"13b", does_not_hold}});
}

TEST(Claim14, HalfPrecisionGainsOnDdpToo) {
  expect("faster", computing("12", 40, "16", 30), {}, {{"14a", holds}});
  expect("slower", computing("12", 30, "16", 40), {}, {{"14a", does_not_hold}});
}

TEST(Claim15, AShapedLinkNeverHolds) {
  const std::vector<Change> shaped = {{"17", "/emulated", {"link: ethernet: veth at 200 Mbit/s"}}};
  const std::vector<Expected> set = {{"15a", by_construction, "veth at 200 Mbit/s"}};
  expect("faster", computing("17", 60, "18", 40), {}, {{"15a", holds}});
  expect("slower", computing("17", 40, "18", 60), {}, {{"15a", does_not_hold}});
  expect("faster, shaped", computing("17", 60, "18", 40), shaped, set);
  expect("slower, shaped", computing("17", 40, "18", 60), shaped, set);
}

TEST(Claim16, KernelsOfDdpRunMoreOfTheTime) {
  const auto two = [](double dp_load, double ddp_load) -> std::vector<RowTimes> {
    return {{"7", step_of(dp_load, 20)}, {"12", step_of(ddp_load, 20)}};
  };
  expect("as stated", two(40, 2), {}, {{"16a", holds, "GIL"}});
  expect("equal", two(2, 2), {}, {{"16a", does_not_hold}});
  expect("a processor", two(40, 2), {kProcessor}, {{"16a", cannot_be_tested}});
}

}  // namespace harness::claims_processes_test
