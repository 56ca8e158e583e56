// unit: verdicts on the claims about storage, each way they can come out
#include <algorithm>

#include "tests/support/claim_records.h"

namespace harness::claims_loading_test {

using enum ClaimVerdict;

const Change kProcessor = {"", "/device/kind", "cpu"};
const Change kSetDiskRate = {"disk", "/emulated", {"read_rate: 26 MB/s"}};

TEST(Claim1, LoadingFromDiskIsMostOfTheTime) {
  const std::vector<RowTimes> slow = {{"disk", step_of(90, 28)}};
  expect("the device works a fourth of the time", slow, {}, {{"1a", holds}, {"1b", holds}});
  expect("no record has the CPU's use", slow, {}, {{"1c", cannot_be_tested, "CPU"}});
  expect("a fast disk", {{"disk", step_of(10, 88)}}, {}, {{"1a", does_not_hold}, {"1b", does_not_hold}});
  expect("68 % of one run is as good as 62 or 75 %", {{"disk", step_of(68, 30), 1}}, {}, {{"1a", undecided}});
  expect("no proven cold cache", slow, {{"disk", "/cache/state", "unknown"}}, {{"1a", cannot_be_tested}});
  expect("a set rate", slow, {kSetDiskRate}, {{"1a", by_construction, "26 MB/s"}});
  expect("a set rate, not listed", slow, {{"disk", "/config/read_rate", 26e6}}, {{"1a", by_construction}});
  expect("a processor", slow, {kProcessor}, {{"1a", holds}, {"1b", cannot_be_tested}});
}

TEST(Claim1, OfWhichSomePartsHoldAndOneCantBeToldIsUndecided) {
  ClaimRecords records;
  records.add("disk", step_of(90, 28));
  EXPECT_EQ(claims_of(records.summary())[0].verdict, undecided);
  records.set("", "/device/kind", "cpu");
  EXPECT_EQ(claims_of(records.summary())[0].verdict, undecided);
}

TEST(Claim1, AShareThatFollowsFromChosenSizesIsByConstruction) {
  for (const auto& [load, share] : {std::pair(10, "25 % ("), {90, "75 % ("}}) {
    expect("all runs", {{"disk", step_of(load, 28)}}, {},
           {{"1a", by_construction, share}, {"1a", by_construction, "follows from the rehearsal's sizes"}},
           "rehearsal");
    expect("few runs", {{"disk", step_of(load, 28), 1}}, {}, {{"1a", undecided}}, "rehearsal");
    expect("the article's sizes", {{"disk", step_of(load, 28)}}, {},
           {{"1a", load == 90 ? holds : does_not_hold}});
  }
}

TEST(Claim1, OnSharedCoresWaitsAreOnlyTheLeastShareOfLoading) {
  const std::vector<RowTimes> rows = {{"disk", step_of(10, 88)}};
  const Change two_cores = {"", "/machine/cores", 2};
  expect("only waits", rows, {kProcessor, two_cores},
         {{"1a", cannot_be_tested, "1 replica and 16 loader threads share 2 cores"}});
  expect("40 % with what it slows", rows, {kProcessor, two_cores, {"", "/ceilings", {{"compute_ms", 60.0}}}},
         {{"1a", does_not_hold}});
  expect("80 %", rows, {kProcessor, two_cores, {"", "/ceilings", {{"compute_ms", 20.0}}}}, {{"1a", holds}});
}

std::vector<RowTimes> lmdb(double files, double in_order, double shuffled) {
  return {{"disk-in-order", step_of(files, 30)},
          {"lmdb", step_of(in_order, 30)},
          {"lmdb-shuffled", step_of(shuffled, 30)}};
}

TEST(Claim2, LmdbInOrderIsFastAndShuffledSlower) {
  expect("as stated", lmdb(60, 20, 40), {}, {{"2a", holds}, {"2b", holds, "than in order"}});
  expect("reversed", lmdb(20, 60, 40), {}, {{"2a", does_not_hold}, {"2b", does_not_hold}});
  expect("idle", lmdb(1, 1, 1), {}, {{"2a", cannot_be_tested, "neither row waits"}});
  expect("warm", lmdb(60, 20, 40), {{"lmdb", "/cache/state", "warm"}}, {{"2a", cannot_be_tested}});
}

TEST(Claim2, ShuffledLmdbIsAlsoComparedWithShuffledFiles) {
  const auto two = [](double files, double lmdb) -> std::vector<RowTimes> {
    return {{"disk", step_of(files, 30)}, {"lmdb-shuffled", step_of(lmdb, 30)}};
  };
  expect("slower, without LMDB in order", two(40, 60), {}, {{"2c", holds}, {"2b", cannot_be_tested}});
  expect("faster", two(60, 40), {}, {{"2c", does_not_hold}});
  expect("neither waits", two(1, 1), {}, {{"2c", cannot_be_tested}});
  expect("in order", two(40, 60), {{"lmdb-shuffled", "/config/order", "in_order"}},
         {{"2c", cannot_be_tested, "also differ in order"}});
  expect("a set rate", two(40, 60), {kSetDiskRate}, {{"2c", by_construction}});
}

// LMDB in order waits `load` ms for each of its first 50 batches, and `later` for each of the 10 after them.
std::vector<Change> starting_up(double load, double later, const std::vector<Change>& more = {}) {
  std::vector<Change> changes = {{"lmdb", "/timed_batches", 60}};
  for (const auto& [phase, ms] : step_of(load, 30)) {
    std::vector<double> batches(60, ms);
    if (phase == "load") std::fill(batches.begin() + 50, batches.end(), later);
    changes.push_back({"lmdb", "/samples_ms/" + phase, json::array({batches})});
    if (phase != "load") changes.push_back({"lmdb", "/device_ms/" + phase, json::array({batches})});
  }
  const double kernels = 31 / (32 + later);  // forward, backward and step, with h2d and load
  const json rank = {{"rank", 0},
                     {"gpu_busy_share", kernels},
                     {"gpu_kernel_share", kernels},
                     {"gpu_copy_share", 0.0},
                     {"host_waits_per_batch", 1.0}};
  changes.push_back({"lmdb", "/trace", {{"first", 50}, {"last", 59}, {"file", "trace.json"}}});
  changes.push_back({"lmdb", "/trace/ranks", json::array({rank})});
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

TEST(Claim2, KernelsAreBusyOnceLmdbInOrderHasStarted) {
  const std::vector<RowTimes> slow = {{"lmdb", step_of(100, 30)}}, fast = {{"lmdb", step_of(1, 30)}};
  expect("busy", slow, starting_up(100, 1), {{"2d", holds, "94 % ("}, {"2d", holds, "from batch 50 on"}});
  expect("31 of 52 ms", fast, starting_up(1, 20), {{"2d", does_not_hold}});
  expect("NVML's mean has the start in it", slow, starting_up(100, 1, {{"lmdb", "/trace/first", 10}}),
         {{"2d", cannot_be_tested}});
  expect("a processor", slow, starting_up(100, 1, {kProcessor}), {{"2d", cannot_be_tested}});
  expect("4 batches", fast, {}, {{"2d", cannot_be_tested}});
}

TEST(Claim3, TmpfsRemovesLoadingAndLeavesComputingAlone) {
  const std::vector<RowTimes> rows = {{"disk", step_of(60, 30)}, {"tmpfs", step_of(1, 30)}};
  expect("as stated", rows, {}, {{"3a", holds}, {"3b", holds}});
  expect("a set rate", rows, {kSetDiskRate}, {{"3a", by_construction}, {"3b", by_construction}});
  expect("17 threads on 16 cores", rows, {kProcessor}, {{"3b", cannot_be_tested, "--set cpus=17"}});
  expect("still waiting", {{"disk", step_of(60, 30)}, {"tmpfs", step_of(40, 50)}}, {},
         {{"3a", does_not_hold}, {"3b", does_not_hold}});
  expect("nothing to remove, and one run can't show equality within 5 %",
         {{"disk", step_of(1, 30)}, {"tmpfs", step_of(1, 30), 1}}, {},
         {{"3a", cannot_be_tested}, {"3b", undecided}});
}

TEST(Claim3, KernelsRunAlmostContinuouslyOnTmpfs) {
  const auto loading = [](double load, double h2d) -> std::vector<RowTimes> {
    return {{"tmpfs", with(step_of(load, 40), {{"h2d", h2d}})}};
  };
  expect("as stated", loading(1, 1), {}, {{"3c", holds, "holds above 76 %"}});
  expect("without loading, but 66 % kernels", loading(1, 20), {}, {{"3c", does_not_hold}});
  expect("loading", loading(20, 1), {}, {{"3c", does_not_hold}});
  expect("phases contain gaps", loading(1, 1), {{"", "/gpu", json::array()}}, {{"3c", cannot_be_tested}});
  expect("a processor", loading(1, 1), {kProcessor}, {{"3c", cannot_be_tested, "not timed separately"}});
}

TEST(Claim17, ImageNetFitsByItsRealSize) {
  const std::vector<RowTimes> rows = {{"tmpfs", step_of(1, 30)}};
  const auto folder = [](double images, double bytes, int classes) -> std::vector<Change> {
    return {{"",
             "/data",
             {{"kind", "folder"}, {"images", images}, {"bytes", images * bytes}, {"classes", classes}}}};
  };
  const std::vector<Change> all = folder(1281167, 115000, 1000);
  expect("stand-in images", rows, {}, {{"17a", cannot_be_tested}});
  expect("all", rows, all, {{"17a", holds, "1281167 training + 50000 validation images"}});
  expect("all", rows, all, {{"17a", holds, "of 160 GiB = 171.8e9 bytes"}});
  expect("169.1e9 bytes are below 160 GiB", rows, folder(1281167, 125000, 1000), {{"17a", holds}});
  expect("too large", rows, folder(1281167, 130000, 1000), {{"17a", does_not_hold}});
  expect("a sample", rows, folder(20000, 115000, 1000), {{"17a", holds}});
  expect("a sample near the limit", rows, folder(20000, 121000, 1000), {{"17a", undecided}});
  expect("another data set", rows, folder(20000, 115000, 200), {{"17a", cannot_be_tested}});
  expect("too few", rows, folder(500, 115000, 1000), {{"17a", cannot_be_tested}});
}

}  // namespace harness::claims_loading_test
