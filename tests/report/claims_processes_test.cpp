// unit: verdicts on the claims about one process per device, each way they can come out
#include "tests/support/claim_records.h"

namespace harness::claims_processes_test {

// DP [10] and DDP [12].
ClaimRecords processes(double dp_compute, double ddp_compute, double dp_h2d, double ddp_h2d,
                       double dp_scatter) {
  ClaimRecords records;
  Times dp = step_of(1, dp_compute), ddp = step_of(1, ddp_compute);
  dp["h2d"] = dp_h2d;
  ddp["h2d"] = ddp_h2d;
  dp["scatter"] = dp_scatter;
  records.add("10", dp);
  records.add("12", ddp);
  return records;
}

TEST(Claims10And11, DdpTakesAThirdOffWithTheSameComputing) {
  const ClaimRecords holds = processes(20, 20, 4, 1, 7), opposite = processes(20, 40, 1, 1, 1);
  EXPECT_EQ(holds.verdict(10, 0), ClaimVerdict::holds) << holds.reason(10, 0);
  EXPECT_EQ(holds.verdict(10, 1), ClaimVerdict::holds) << holds.reason(10, 1);
  EXPECT_EQ(holds.verdict(11), ClaimVerdict::holds) << holds.reason(11);
  EXPECT_EQ(opposite.verdict(10, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(10, 1), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(11), ClaimVerdict::does_not_hold);
  EXPECT_EQ(processes(20, 20, 1, 1, 40).verdict(10, 0), ClaimVerdict::does_not_hold)
      << "far more than a third";
  EXPECT_EQ(processes(20, 20, 4, 1.1, 7).verdict(10, 1), ClaimVerdict::holds) << "10 % from a fourth";
  EXPECT_EQ(processes(20, 20, 4, 0.8, 7).verdict(10, 1), ClaimVerdict::does_not_hold) << "25 % from a fourth";
  ClaimRecords slow_sgd = holds;
  slow_sgd.set("12", "/device_ms/step", json(4, json(4, 1.2)));
  EXPECT_EQ(slow_sgd.verdict(11), ClaimVerdict::does_not_hold);
  EXPECT_NE(slow_sgd.reason(11).find("step, [10] / [12]"), std::string::npos) << slow_sgd.reason(11);
  ClaimRecords other_machine = holds;
  other_machine.set("12", "/machine/host", "another");
  EXPECT_NE(other_machine.reason(10, 0).find("also differ in machine/host"), std::string::npos);
  ClaimRecords other_model = holds;
  other_model.set("12", "/config/model", "resnet50");
  EXPECT_NE(other_model.reason(11).find("also differ in model"), std::string::npos);
  for (const auto& [claim, part] : {std::pair(10, 0), {10, 1}, {11, 0}})
    expect_untestable_without("12", holds, claim, size_t(part));
}

TEST(Claims10To13, SayNothingOfRanksThatShareCores) {
  ClaimRecords records("rehearsal");
  for (const char* id : {"10", "12", "13", "14", "15"}) records.add(id, step_of(1, 40));
  records.set("", "/device/kind", "cpu");
  records.set("", "/machine/cores", 2);
  for (const auto& [claim, part] : {std::pair(10, 0), {10, 1}, {11, 0}, {12, 0}, {13, 0}, {13, 1}})
    EXPECT_EQ(records.verdict(claim, size_t(part)), ClaimVerdict::cannot_be_tested) << claim;
  EXPECT_NE(records.reason(12).find("4 ranks and 12 loader threads share 2 cores"), std::string::npos);
}

TEST(Claim12, PackagesAreTestedForEqualityAndNeverRanked) {
  const auto three = [](double apex, double horovod, int repeats = 5) {
    ClaimRecords records;
    records.add("12", step_of(1, 40), repeats);
    records.add("13", step_of(1, apex), repeats);
    records.add("15", step_of(1, horovod), repeats);
    return records;
  };
  EXPECT_EQ(three(40, 40.5).verdict(12), ClaimVerdict::holds) << three(40, 40.5).reason(12);
  EXPECT_NE(three(40, 40.5).reason(12).find("not the packages"), std::string::npos);
  EXPECT_EQ(three(40, 50).verdict(12), ClaimVerdict::does_not_hold);
  EXPECT_EQ(three(40, 30).verdict(12), ClaimVerdict::does_not_hold) << "faster is as unequal as slower";
  EXPECT_EQ(three(40, 40, 1).verdict(12), ClaimVerdict::undecided) << "one run shows no equality";
  expect_untestable_without("15", three(40, 40), 12, 0);
}

TEST(Claim10, TheTimeOfCollectivesFluctuatesBetweenRanks) {
  const auto with = [](const std::vector<double>& by_rank) {
    ClaimRecords records;
    records.add("12", step_of(1, 40));
    json spans;
    for (const double ms : by_rank) spans.push_back(json(4, ms));
    records.set("12", "/spans_ms", {{"communication", spans}});
    return records;
  };
  const ClaimRecords apart = with({8, 10, 10, 12});
  EXPECT_EQ(apart.verdict(10, 2), ClaimVerdict::holds) << apart.reason(10, 2);
  EXPECT_TRUE(apart.part(10, 2).figure.starts_with("40 %")) << apart.part(10, 2).figure;
  EXPECT_EQ(with({9.5, 10, 10, 10.5}).verdict(10, 2), ClaimVerdict::does_not_hold) << "10 %";
  EXPECT_EQ(with({10}).verdict(10, 2), ClaimVerdict::cannot_be_tested) << "one rank's time";
  ClaimRecords emulated = apart;
  emulated.set("", "/device/kind", "emulated");
  EXPECT_EQ(emulated.verdict(10, 2), ClaimVerdict::cannot_be_tested) << "the host's time";
  expect_untestable_without("12", apart, 10, 2);
}

TEST(Claim12, DdpMustBeatBothOthersInEfficiency) {
  const auto three = [](double apex, double horovod) {
    ClaimRecords records;
    records.add("12", step_of(1, 40));
    records.add("13", step_of(1, apex));
    records.add("15", step_of(1, horovod));
    return records;
  };
  EXPECT_EQ(three(42, 43).verdict(12, 1), ClaimVerdict::holds) << three(42, 43).reason(12, 1);
  EXPECT_NE(three(42, 43).reason(12, 1).find("not the packages"), std::string::npos);
  EXPECT_EQ(three(42, 38).verdict(12, 1), ClaimVerdict::does_not_hold) << "Horovod is faster";
  EXPECT_EQ(three(42, 40).verdict(12, 1), ClaimVerdict::does_not_hold) << "Horovod is as fast";
  expect_untestable_without("13", three(42, 43), 12, 1);
}

TEST(Claim13, SyncBnAddsALittleAndWaitsAtItsFirstLayer) {
  const auto with = [](double sync_bn, double first, double later) {
    ClaimRecords records;
    records.add("13", step_of(1, 40));
    records.add("14", step_of(1, sync_bn));
    records.set("14", "/communication", {{"ceiling_ms", 1.0}});
    const auto spans = [](double ms) { return std::vector(4, std::vector(4, ms)); };
    records.set("14", "/spans_ms", {{"sync_bn/bn1", spans(first)}, {"sync_bn/layer1.0.bn1", spans(later)}});
    return records;
  };
  const ClaimRecords holds = with(43, 5, 0.5), opposite = with(60, 1, 1);
  EXPECT_EQ(holds.verdict(13, 0), ClaimVerdict::holds) << holds.reason(13, 0);
  EXPECT_EQ(holds.verdict(13, 1), ClaimVerdict::holds) << holds.reason(13, 1);
  EXPECT_EQ(opposite.verdict(13, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(13, 1), ClaimVerdict::does_not_hold);
  const ClaimRecords long_later = with(60, 30, 9);
  EXPECT_EQ(long_later.verdict(13, 1), ClaimVerdict::does_not_hold)
      << "shorter than the first, but 14 % of the step";
  EXPECT_NE(long_later.reason(13, 1).find("/ step; holds below 5.0 %"), std::string::npos)
      << long_later.reason(13, 1);
  ClaimRecords in_backward = holds;
  in_backward.set("14", "/spans_ms/sync_bn_backward", json(4, json(4, 9.0)));
  EXPECT_EQ(in_backward.verdict(13, 1), ClaimVerdict::does_not_hold) << "backward waits too";
  expect_untestable_without("14", holds, 13, 0);
  expect_untestable_without("14", holds, 13, 1);
}

TEST(Claim15, AShapedLinkNeverHolds) {
  ClaimRecords faster, slower;
  faster.add("17", step_of(1, 60));
  faster.add("18", step_of(1, 40));
  slower.add("17", step_of(1, 40));
  slower.add("18", step_of(1, 60));
  EXPECT_EQ(faster.verdict(15), ClaimVerdict::holds) << faster.reason(15);
  EXPECT_EQ(slower.verdict(15), ClaimVerdict::does_not_hold);
  for (ClaimRecords* some : {&faster, &slower}) {
    some->set("17", "/emulated", {"link: ethernet: veth at 200 Mbit/s"});
    EXPECT_EQ(some->verdict(15), ClaimVerdict::by_construction);
    EXPECT_NE(some->reason(15).find("veth at 200 Mbit/s"), std::string::npos);
  }
  expect_untestable_without("18", faster, 15, 0);
}

TEST(Claim16, KernelsOfDdpRunMoreOfTheTime) {
  const auto rows = [](double dp_load, double ddp_load) {
    ClaimRecords records;
    records.add("7", step_of(dp_load, 20));
    records.add("12", step_of(ddp_load, 20));
    return records;
  };
  EXPECT_EQ(rows(40, 2).verdict(16), ClaimVerdict::holds) << rows(40, 2).reason(16);
  EXPECT_NE(rows(40, 2).reason(16).find("GIL"), std::string::npos);
  EXPECT_EQ(rows(2, 2).verdict(16), ClaimVerdict::does_not_hold);
  ClaimRecords processor = rows(40, 2);
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(16), ClaimVerdict::cannot_be_tested);
  expect_untestable_without("7", rows(40, 2), 16, 0);
}

}  // namespace harness::claims_processes_test
