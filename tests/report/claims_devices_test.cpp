// unit: verdicts on the claims about devices and threads under DataParallel, each way they can come out
#include "harness/config/device_file.h"
#include "tests/support/claim_records.h"

namespace harness::claims_devices_test {

// Rows [0], [5], [7] and [1], [2], [4] with the compute and copies between devices of 1, 2 and 4 devices.
ClaimRecords on_devices(const std::vector<double>& compute, const std::vector<double>& copies,
                        const std::vector<double>& load = {1, 1, 1}) {
  ClaimRecords records;
  for (const auto& ids : {std::vector<const char*>{"0", "5", "7"}, {"1", "2", "4"}})
    for (size_t i = 0; i < ids.size(); ++i) {
      Times times = step_of(load[i], compute[i]);
      times["scatter"] = 0.8 * copies[i];
      times["broadcast"] = 0.2 * copies[i];
      records.add(ids[i], times);
    }
  return records;
}

TEST(Claims5To7, MoreDevicesComputeFasterWaitLongerAndGainLess) {
  const ClaimRecords scaling = on_devices({80, 40, 20}, {0.1, 6, 10}, {1, 4, 20});
  EXPECT_EQ(scaling.verdict(5), ClaimVerdict::holds) << scaling.reason(5);
  EXPECT_EQ(scaling.verdict(6), ClaimVerdict::holds) << scaling.reason(6);
  EXPECT_EQ(scaling.verdict(7, 0), ClaimVerdict::holds) << scaling.reason(7, 0);
  EXPECT_EQ(scaling.verdict(7, 1), ClaimVerdict::holds) << scaling.reason(7, 1);
  const ClaimRecords opposite = on_devices({20, 40, 20}, {0.1, 6, 1}, {10, 1, 1});
  EXPECT_EQ(opposite.verdict(5), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(6), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(7, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(7, 1), ClaimVerdict::does_not_hold);
  for (const auto& [claim, part] : {std::pair(5, 0), {6, 0}, {7, 0}, {7, 1}})
    expect_untestable_without("7", scaling, claim, size_t(part));
}

TEST(Claims5To7, SayNothingOfReplicasThatShareCores) {
  ClaimRecords records("rehearsal");
  for (const char* id : {"0", "5", "7", "1", "2", "4"}) records.add(id, step_of(1, 40));
  records.set("", "/device/kind", "cpu");
  records.set("", "/rank_map", {{{"host", "vm"}, {"cpus", {0, 1}}}});
  for (const auto& [claim, part] : {std::pair(5, 0), {6, 0}, {7, 0}, {7, 1}}) {
    EXPECT_EQ(records.verdict(claim, size_t(part)), ClaimVerdict::cannot_be_tested);
    EXPECT_NE(records.reason(claim, size_t(part)).find("4 replicas and 4 loader threads share 2 cores"),
              std::string::npos)
        << records.reason(claim, size_t(part));
  }
}

TEST(Claims5To7, AReadRateMakesDevicesWaitByConstruction) {
  ClaimRecords records = on_devices({80, 40, 20}, {0.1, 6, 10}, {1, 4, 20});
  records.set("7", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(records.verdict(6), ClaimVerdict::by_construction);
}

TEST(Claims5To9, OfEmulatedDevicesOnlyTheirFilesOwnFiguresAreByConstruction) {
  ClaimRecords records = on_devices({80, 40, 20}, {0.1, 6, 10}, {1, 4, 20});
  records.set("", "/emulated", {"device: v100-article (configs/devices), durations x 4"});
  EXPECT_EQ(records.verdict(5), ClaimVerdict::by_construction) << "forward and backward are the file's";
  EXPECT_EQ(records.verdict(9, 0), ClaimVerdict::by_construction)
      << "its copies were calibrated on this share";
  EXPECT_EQ(records.verdict(6), ClaimVerdict::holds) << "who waits for the loader is measured";
  EXPECT_EQ(records.verdict(7, 1), ClaimVerdict::holds);
}

// As on_devices(), on emulated devices whose timelines also have the waits for images.
ClaimRecords on_emulated_devices() {
  const std::vector<double> waits = {1, 4, 20};
  ClaimRecords records = on_devices({80, 40, 20}, {0.1, 6, 10}, waits);
  records.set("", "/device/kind", "emulated");
  records.set("", "/emulated", {"device: v100-article (configs/devices), durations x 4"});
  records.set("", "/emulation",
              encode(Emulation{read_device_file(device_file(SOURCE_DIR, kDefaultDeviceFile)), 1, 4}));
  for (const auto& ids : {std::vector<const char*>{"0", "5", "7"}, {"1", "2", "4"}})
    for (size_t i = 0; i < ids.size(); ++i)
      records.set(ids[i], "/device_ms/load", json(1, json(4, waits[i])));
  return records;
}

TEST(Claims5To9, OfEmulatedDevicesHaveMarkedFigures) {
  const ClaimRecords records = on_emulated_devices();
  EXPECT_EQ(records.verdict(6), ClaimVerdict::holds) << records.reason(6);
  EXPECT_TRUE(records.part(6).figure.ends_with("), emulated")) << records.part(6).figure;
  EXPECT_EQ(records.verdict(5), ClaimVerdict::by_construction);
  EXPECT_TRUE(records.part(5).figure.ends_with("), emulated")) << records.part(5).figure;
  EXPECT_EQ(records.verdict(9), ClaimVerdict::by_construction);
  EXPECT_NE(
      records.reason(9).find("follows from a setting of [7]: its device file v100-article, calibrated on "
                             "this row's shares of scatter and broadcast"),
      std::string::npos)
      << records.reason(9);
}

TEST(Claims5To9, OfEmulatedDevicesNeedFiveRunsToo) {
  ClaimRecords records;
  records.add("0", step_of(1, 80), 1);
  records.add("7", step_of(20, 20), 1);
  records.set("", "/device/kind", "emulated");
  records.set("7", "/device_ms/load", json(1, json(4, 20.0)));
  records.set("0", "/device_ms/load", json(1, json(4, 1.0)));
  EXPECT_EQ(records.verdict(6), ClaimVerdict::undecided) << records.reason(6);
  EXPECT_NE(records.reason(6).find("1 run of 5, and the scatter of loader-bound rows takes 3 repeats"),
            std::string::npos);
}

TEST(Claims5To9, OnEmulatedDevicesTooFewCoresMatterOnlyToARowThatWaitsForItsLoader) {
  ClaimRecords records = on_emulated_devices();
  records.set("", "/config/loader_threads", 80);
  EXPECT_EQ(records.verdict(6), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(records.reason(6).find("in [7] 80 loader threads share"), std::string::npos) << records.reason(6);
  records.set("7", "/device_ms/load", json(1, json(4, 0.1)));
  EXPECT_EQ(records.verdict(6), ClaimVerdict::does_not_hold) << records.reason(6);
}

TEST(Claims5To9, WithEmulatedCoresWhoWaitsForImagesIsASetting) {
  ClaimRecords records = on_emulated_devices();
  records.set("", "/emulated",
              {"device: v100-article (configs/devices), durations x 4",
               "cores: each decodes 117.5 images/s, / 4 as durations are longer"});
  records.set("", "/config/device_file", "v100-article");
  records.set("", "/config/core_images_per_s", 117.5);
  EXPECT_EQ(records.verdict(6), ClaimVerdict::by_construction);
  EXPECT_NE(records.reason(6).find("cores: each decodes 117.5"), std::string::npos) << records.reason(6);
  EXPECT_EQ(records.verdict(7, 1), ClaimVerdict::holds) << records.reason(7, 1);
  records.set("7", "/ceilings", {{"batches", 4}, {"loader_ms", 1e6}});
  EXPECT_EQ(records.verdict(7, 1), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(records.reason(7, 1).find("doesn't reach the "), std::string::npos) << records.reason(7, 1);
}

TEST(Claims5To9, AProcessorsRunNamesTheDevicesThatItLacks) {
  ClaimRecords records("rehearsal");
  for (const char* id : {"0", "7"}) records.add(id, step_of(1, 40));
  records.set("", "/device/kind", "cpu");
  records.set("", "/rank_map", {{{"host", "vm"}, {"cpus", {0, 1}}}});
  for (const int claim : {6, 9})
    EXPECT_NE(records.reason(claim).find("`--device emulated` has devices apart"), std::string::npos)
        << records.reason(claim);
}

TEST(Claim8, ThreadsHelpUntilTheyAreTooMany) {
  const auto sweep = [](double seven, double ten, double eleven) {
    ClaimRecords records;
    records.add("7", step_of(seven, 20));
    records.add("10", step_of(ten, 20));
    records.add("11", step_of(eleven, 20));
    return records;
  };
  const ClaimRecords helps = sweep(20, 5, 10);
  EXPECT_EQ(helps.verdict(8, 0), ClaimVerdict::holds) << helps.reason(8, 0);
  EXPECT_EQ(helps.verdict(8, 1), ClaimVerdict::holds) << helps.reason(8, 1);
  const ClaimRecords hurts = sweep(5, 20, 10);
  EXPECT_EQ(hurts.verdict(8, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(hurts.verdict(8, 1), ClaimVerdict::does_not_hold);
  ClaimRecords clipped = helps;
  clipped.set("10", "/notes", {"cpus: 48 clipped to 16"});
  EXPECT_EQ(clipped.verdict(8, 0), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(clipped.reason(8, 0).find("48 clipped to 16"), std::string::npos);
  ClaimRecords few_cores = helps;
  few_cores.set("10", "/config/cpus", 16);
  EXPECT_NE(few_cores.reason(8, 0).find("48 loader threads share 16 cores"), std::string::npos);
  expect_untestable_without("11", helps, 8, 1);
}

TEST(Claim8, MoreThreadsHelpMainlyByLessWaiting) {
  const auto two = [](double load, double compute, int repeats = 5) {
    ClaimRecords records;
    records.add("7", step_of(20, 40), repeats);
    records.add("10", step_of(load, compute), repeats);
    return records;
  };
  EXPECT_EQ(two(5, 40).verdict(8, 2), ClaimVerdict::holds) << two(5, 40).reason(8, 2);
  EXPECT_NE(two(5, 40).reason(8, 2).find("holds above 50 %"), std::string::npos) << two(5, 40).reason(8, 2);
  EXPECT_EQ(two(15, 25).verdict(8, 2), ClaimVerdict::does_not_hold) << "5 of 20 ms";
  EXPECT_EQ(two(5, 40, 4).verdict(8, 2), ClaimVerdict::undecided) << "too few runs";
  EXPECT_EQ(two(20, 40).verdict(8, 2), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(two(20, 40).reason(8, 2).find("not faster than [7]"), std::string::npos);
  expect_untestable_without("10", two(5, 40), 8, 2);
}

TEST(Claim9, ScatterTakesNearlyAFifthAndBroadcastRoughlyTwoPercent) {
  const auto dp = [](double scatter, double broadcast) {
    ClaimRecords records;
    Times times = step_of(1, 40);
    times["scatter"] = scatter;
    times["broadcast"] = broadcast;
    records.add("7", times);
    return records;
  };
  const ClaimRecords holds = dp(10, 1), opposite = dp(1, 10);
  EXPECT_EQ(holds.verdict(9, 0), ClaimVerdict::holds) << holds.reason(9, 0);
  EXPECT_EQ(holds.verdict(9, 1), ClaimVerdict::holds) << holds.reason(9, 1);
  EXPECT_EQ(opposite.verdict(9, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(9, 1), ClaimVerdict::does_not_hold);
  EXPECT_NE(holds.reason(9, 0).find("from 15 to 20 %; the article doesn't say of what"), std::string::npos)
      << holds.reason(9, 0);
  EXPECT_EQ(dp(20, 0.1).verdict(9, 0), ClaimVerdict::does_not_hold) << "32 % are not nearly 20 %";
  EXPECT_EQ(dp(6, 0.1).verdict(9, 0), ClaimVerdict::does_not_hold) << "12 % are not either";
  EXPECT_EQ(dp(6, 0.1).verdict(9, 1), ClaimVerdict::does_not_hold) << "0.2 % are not roughly 2 %";
  EXPECT_EQ(dp(6, 1.9).verdict(9, 1), ClaimVerdict::does_not_hold) << "3.7 % are not either";
  ClaimRecords processor = holds;
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(9, 0), ClaimVerdict::cannot_be_tested);
  ClaimRecords no_clock = holds;
  no_clock.set("", "/device_ms", json::object());
  EXPECT_EQ(no_clock.verdict(9, 0), ClaimVerdict::cannot_be_tested)
      << "host times of a GPU are when work was handed over";
  expect_untestable_without("7", holds, 9, 1);
}

}  // namespace harness::claims_devices_test
