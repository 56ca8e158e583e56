// unit: verdicts on the claim about LMDB, each way they can come out
#include <algorithm>

#include "tests/support/claim_records.h"

namespace harness::claims_lmdb_test {

TEST(Claim2, LmdbInOrderIsFastAndShuffledSlower) {
  ClaimRecords records, reversed, idle;
  records.add("disk-in-order", step_of(60, 30));
  records.add("lmdb", step_of(20, 30));
  records.add("lmdb-shuffled", step_of(40, 30));
  EXPECT_EQ(records.verdict(2, 0), ClaimVerdict::holds) << records.reason(2, 0);
  EXPECT_EQ(records.verdict(2, 1), ClaimVerdict::holds) << records.reason(2, 1);
  reversed.add("disk-in-order", step_of(20, 30));
  reversed.add("lmdb", step_of(60, 30));
  reversed.add("lmdb-shuffled", step_of(40, 30));
  EXPECT_EQ(reversed.verdict(2, 0), ClaimVerdict::does_not_hold);
  EXPECT_EQ(reversed.verdict(2, 1), ClaimVerdict::does_not_hold);
  for (const char* id : {"disk-in-order", "lmdb", "lmdb-shuffled"}) idle.add(id, step_of(1, 60));
  EXPECT_EQ(idle.verdict(2, 0), ClaimVerdict::cannot_be_tested);
  EXPECT_NE(idle.reason(2, 0).find("neither row waits"), std::string::npos);
  EXPECT_NE(records.part(2, 1).text.find("than in order"), std::string::npos);
  ClaimRecords warm = records;
  warm.set("lmdb", "/cache/state", "warm");
  EXPECT_EQ(warm.verdict(2, 0), ClaimVerdict::cannot_be_tested);
  expect_untestable_without("lmdb-shuffled", records, 2, 1);
}

TEST(Claim2, ShuffledLmdbIsAlsoComparedWithShuffledFiles) {
  const auto two = [](double files, double lmdb) {
    ClaimRecords records;
    records.add("disk", step_of(files, 30));
    records.add("lmdb-shuffled", step_of(lmdb, 30));
    return records;
  };
  const ClaimRecords slower = two(40, 60);
  EXPECT_EQ(slower.verdict(2, 2), ClaimVerdict::holds) << slower.reason(2, 2);
  EXPECT_EQ(slower.verdict(2, 1), ClaimVerdict::cannot_be_tested) << "without LMDB in order";
  EXPECT_EQ(two(60, 40).verdict(2, 2), ClaimVerdict::does_not_hold);
  EXPECT_EQ(two(1, 1).verdict(2, 2), ClaimVerdict::cannot_be_tested) << "neither waits";
  ClaimRecords in_order = slower;
  in_order.set("lmdb-shuffled", "/config/order", "in_order");
  EXPECT_NE(in_order.reason(2, 2).find("also differ in order"), std::string::npos) << in_order.reason(2, 2);
  ClaimRecords shaped = slower;
  shaped.set("disk", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(shaped.verdict(2, 2), ClaimVerdict::by_construction);
  expect_untestable_without("disk", slower, 2, 2);
}

// LMDB in order waits `load` ms for each of its first 50 batches, and `later` for each of the 10 after them.
ClaimRecords starting_up(double load, double later) {
  ClaimRecords records;
  Times times = step_of(load, 30);
  records.add("lmdb", times);
  for (const auto& [phase, ms] : times) {
    std::vector<double> batches(60, ms);
    if (phase == "load") std::fill(batches.begin() + 50, batches.end(), later);
    records.set("lmdb", ("/samples_ms/" + phase).c_str(), json::array({batches}));
    if (phase != "load") records.set("lmdb", ("/device_ms/" + phase).c_str(), json::array({batches}));
  }
  records.set("lmdb", "/timed_batches", 60);
  const double kernels = 31 / (32 + later);  // forward, backward and step, with h2d and load
  records.set("lmdb", "/trace",
              {{"first", 50},
               {"last", 59},
               {"file", "trace.json"},
               {"ranks",
                {{{"rank", 0},
                  {"gpu_busy_share", kernels},
                  {"gpu_kernel_share", kernels},
                  {"gpu_copy_share", 0.0},
                  {"host_waits_per_batch", 1.0}}}}});
  return records;
}

TEST(Claim2, KernelsAreBusyOnceLmdbInOrderHasStarted) {
  const ClaimRecords busy = starting_up(100, 1);
  EXPECT_EQ(busy.verdict(2, 3), ClaimVerdict::holds) << busy.reason(2, 3);
  EXPECT_TRUE(busy.part(2, 3).figure.starts_with("94 %")) << busy.part(2, 3).figure;
  EXPECT_NE(busy.reason(2, 3).find("from batch 50 on"), std::string::npos) << busy.reason(2, 3);
  ClaimRecords whole_window = busy;
  whole_window.set("lmdb", "/trace/first", 10);
  EXPECT_EQ(whole_window.verdict(2, 3), ClaimVerdict::cannot_be_tested) << "NVML's mean has the start in it";
  EXPECT_EQ(starting_up(1, 20).verdict(2, 3), ClaimVerdict::does_not_hold) << "31 of 52 ms";
  ClaimRecords processor = busy, short_run;
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(2, 3), ClaimVerdict::cannot_be_tested);
  short_run.add("lmdb", step_of(1, 30));
  EXPECT_EQ(short_run.verdict(2, 3), ClaimVerdict::cannot_be_tested) << "4 batches";
  expect_untestable_without("lmdb", busy, 2, 3);
}

}  // namespace harness::claims_lmdb_test
