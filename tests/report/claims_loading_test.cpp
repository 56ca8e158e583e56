// unit: verdicts on the claims about storage, each way they can come out
#include "tests/support/claim_records.h"

namespace harness::claims_loading_test {

TEST(Claim1, LoadingFromDiskIsMostOfTheTime) {
  ClaimRecords slow, fast, between;
  slow.add("disk", step_of(90, 28));
  EXPECT_EQ(slow.verdict(1), ClaimVerdict::holds) << slow.reason(1);
  EXPECT_EQ(slow.verdict(1, 1), ClaimVerdict::holds) << "device works a fourth of the time";
  EXPECT_EQ(slow.verdict(1, 2), ClaimVerdict::cannot_be_tested) << "no record has the CPU's use";
  EXPECT_NE(slow.part(1, 2).text.find("CPU"), std::string::npos);
  EXPECT_EQ(claims_of(slow.summary())[0].verdict, ClaimVerdict::undecided)
      << "two parts hold, one can't be told";
  fast.add("disk", step_of(10, 88));
  EXPECT_EQ(fast.verdict(1), ClaimVerdict::does_not_hold);
  EXPECT_EQ(fast.verdict(1, 1), ClaimVerdict::does_not_hold);
  between.add("disk", step_of(68, 30), 1);
  EXPECT_EQ(between.verdict(1), ClaimVerdict::undecided) << "68 % of one run is as good as 62 or 75 %";
  expect_untestable_without("disk", slow, 1, 0);
}

TEST(Claim1, NeedsAProvenColdCacheAndARealDisk) {
  ClaimRecords records;
  records.add("disk", step_of(90, 28));
  ClaimRecords warm = records, shaped = records, shaped_silently = records, processor = records;
  warm.set("disk", "/cache/state", "unknown");
  EXPECT_EQ(warm.verdict(1), ClaimVerdict::cannot_be_tested);
  shaped.set("disk", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(shaped.verdict(1), ClaimVerdict::by_construction);
  EXPECT_NE(shaped.reason(1).find("26 MB/s"), std::string::npos);
  shaped_silently.set("disk", "/config/read_rate", 26e6);
  EXPECT_EQ(shaped_silently.verdict(1), ClaimVerdict::by_construction);
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(1), ClaimVerdict::holds) << processor.reason(1);
  EXPECT_EQ(processor.verdict(1, 1), ClaimVerdict::cannot_be_tested);
  EXPECT_EQ(claims_of(processor.summary())[0].verdict, ClaimVerdict::undecided) << "one part can't be told";
}

TEST(Claim1, AShareThatFollowsFromChosenSizesIsByConstruction) {
  for (const double load : {10, 90}) {
    ClaimRecords rehearsal("rehearsal"), few_runs("rehearsal"), article;
    rehearsal.add("disk", step_of(load, 28));
    few_runs.add("disk", step_of(load, 28), 1);
    article.add("disk", step_of(load, 28));
    EXPECT_EQ(rehearsal.verdict(1), ClaimVerdict::by_construction) << rehearsal.reason(1);
    EXPECT_NE(rehearsal.reason(1).find("follows from the rehearsal's sizes"), std::string::npos);
    EXPECT_NE(rehearsal.part(1).figure, "");
    EXPECT_EQ(few_runs.verdict(1), ClaimVerdict::undecided);
    EXPECT_NE(article.verdict(1), ClaimVerdict::by_construction) << "these sizes are the article's";
  }
}

TEST(Claim1, OnSharedCoresWaitsAreOnlyTheLeastShareOfLoading) {
  ClaimRecords records;
  records.add("disk", step_of(10, 88));
  records.set("", "/device/kind", "cpu");
  records.set("", "/machine/cores", 2);
  EXPECT_EQ(records.verdict(1), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(records.reason(1).find("1 replica and 16 loader threads share 2 cores"), std::string::npos);
  ClaimRecords measured = records;
  measured.set("", "/ceilings", {{"compute_ms", 60.0}});
  EXPECT_EQ(measured.verdict(1), ClaimVerdict::does_not_hold) << "40 % with what it slows";
  measured.set("", "/ceilings", {{"compute_ms", 20.0}});
  EXPECT_EQ(measured.verdict(1), ClaimVerdict::holds) << "80 %";
}

TEST(Claim3, TmpfsRemovesLoadingAndLeavesComputingAlone) {
  ClaimRecords records;
  records.add("disk", step_of(60, 30));
  records.add("tmpfs", step_of(1, 30));
  EXPECT_EQ(records.verdict(3, 0), ClaimVerdict::holds) << records.reason(3, 0);
  EXPECT_EQ(records.verdict(3, 1), ClaimVerdict::holds) << records.reason(3, 1);
  ClaimRecords shaped = records;
  shaped.set("disk", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(shaped.verdict(3, 0), ClaimVerdict::by_construction);
  EXPECT_EQ(shaped.verdict(3, 1), ClaimVerdict::by_construction);
  ClaimRecords crowded = records;
  crowded.set("", "/device/kind", "cpu");
  EXPECT_EQ(crowded.verdict(3, 1), ClaimVerdict::cannot_be_tested) << "17 threads on 16 cores";
  EXPECT_NE(crowded.reason(3, 1).find("--set cpus=17"), std::string::npos) << crowded.reason(3, 1);
  ClaimRecords waiting, fast_disk;
  waiting.add("disk", step_of(60, 30));
  waiting.add("tmpfs", step_of(40, 50));
  EXPECT_EQ(waiting.verdict(3, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(waiting.verdict(3, 1), ClaimVerdict::does_not_hold);
  fast_disk.add("disk", step_of(1, 30));
  fast_disk.add("tmpfs", step_of(1, 30), 1);
  EXPECT_EQ(fast_disk.verdict(3, 0), ClaimVerdict::cannot_be_tested) << "nothing to remove";
  EXPECT_EQ(fast_disk.verdict(3, 1), ClaimVerdict::undecided) << "one run can't show equality within 5 %";
  expect_untestable_without("tmpfs", records, 3, 0);
}

TEST(Claim3, KernelsRunAlmostContinuouslyOnTmpfs) {
  const auto with = [](double load, double h2d) {
    ClaimRecords records;
    Times times = step_of(load, 40);
    times["h2d"] = h2d;
    records.add("tmpfs", times);
    return records;
  };
  EXPECT_EQ(with(1, 1).verdict(3, 2), ClaimVerdict::holds) << with(1, 1).reason(3, 2);
  EXPECT_NE(with(1, 1).reason(3, 2).find("holds above 76 %"), std::string::npos) << with(1, 1).reason(3, 2);
  EXPECT_EQ(with(1, 20).verdict(3, 2), ClaimVerdict::does_not_hold) << "without loading, but 66 % kernels";
  EXPECT_EQ(with(20, 1).verdict(3, 2), ClaimVerdict::does_not_hold);
  ClaimRecords only_phases = with(1, 1);
  only_phases.set("", "/gpu", json::array());
  EXPECT_EQ(only_phases.verdict(3, 2), ClaimVerdict::cannot_be_tested) << "phases contain gaps";
  ClaimRecords processor = with(1, 1);
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(3, 2), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(processor.reason(3, 2).find("not timed separately"), std::string::npos);
  expect_untestable_without("tmpfs", with(1, 1), 3, 2);
}

TEST(Claim17, ImageNetFitsByItsRealSize) {
  ClaimRecords records;
  records.add("tmpfs", step_of(1, 30));
  EXPECT_EQ(records.verdict(17), ClaimVerdict::cannot_be_tested) << "stand-in images";
  const auto folder = [&](double images, double bytes, int classes) {
    records.set("", "/data",
                {{"kind", "folder"}, {"images", images}, {"bytes", images * bytes}, {"classes", classes}});
    return records.verdict(17);
  };
  EXPECT_EQ(folder(1281167, 115000, 1000), ClaimVerdict::holds) << records.reason(17);
  for (const char* part : {"1281167 training + 50000 validation images", "of 160 GiB = 171.8e9 bytes"})
    EXPECT_NE(records.reason(17).find(part), std::string::npos) << records.reason(17);
  EXPECT_EQ(folder(1281167, 125000, 1000), ClaimVerdict::holds) << "169.1e9 bytes are below 160 GiB";
  EXPECT_EQ(folder(1281167, 130000, 1000), ClaimVerdict::does_not_hold);
  EXPECT_EQ(folder(20000, 115000, 1000), ClaimVerdict::holds) << records.reason(17);
  EXPECT_EQ(folder(20000, 121000, 1000), ClaimVerdict::undecided);
  EXPECT_EQ(folder(20000, 115000, 200), ClaimVerdict::cannot_be_tested) << "another data set";
  EXPECT_EQ(folder(500, 115000, 1000), ClaimVerdict::cannot_be_tested) << "too few";
}

}  // namespace harness::claims_loading_test
