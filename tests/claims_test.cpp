// unit: the 17 verdicts on records made for them, each way they can come out; and the audit's arithmetic
#include "harness/report/claims.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/article_rows.h"

namespace harness {
namespace {

using nlohmann::json;
using Times = std::map<std::string, double>;  // phase -> ms in every batch

// Rows of the article's own matrix, run on made-up hardware where every claim can be tested: four GPUs with a
// clock of their own, 64 cores, float16, several runs. Device times are those of the phases unless said
// otherwise.
class Records {
 public:
  explicit Records(const std::string& scale = "article") : scale_(scale) {
    for (const Row& row : article(scale).rows) rows_[row.id] = to_json(row);
  }

  json& add(const std::string& id, const Times& times, int repeats = 5) {
    for (int repeat = 0; repeat < repeats; ++repeat) add_one(id, times, repeat, repeats);
    return records_.back();
  }
  void add_failed(const std::string& id, const std::string& status, const std::string& reason) {
    json record = identity(id);
    record.update({{"status", status}, {"reason", reason}});
    records_.push_back(record);
  }
  // Applies to all records of the row, or of every row without an id.
  void set(const std::string& id, const char* pointer, const json& value) {
    for (json& record : records_)
      if (id.empty() || record["row"] == id) record[json::json_pointer(pointer)] = value;
  }

  Summary summary() const { return summarise(records_).at(0); }
  ClaimPart part(int claim, size_t part = 0) const {
    return claims_of(summary()).at(size_t(claim - 1)).parts.at(part);
  }
  Verdict verdict(int claim, size_t index = 0) const { return part(claim, index).verdict; }
  std::string reason(int claim, size_t index = 0) const { return part(claim, index).reason; }

 private:
  json identity(const std::string& id) const {
    const json& config = rows_.at(id);
    const bool ranks = config["strategy"] != "single" && config["strategy"] != "data_parallel";
    return {{"schema", 1},
            {"row", id},
            {"repeat", 0},
            {"status", "OK"},
            {"reason", ""},
            {"config", config},
            {"scale", {{"name", scale_}}},
            {"device", {{"kind", "cuda"}, {"label", "4 GPUs"}}},
            {"machine", {{"cpu", "made up"}, {"cores", 64}, {"host", "test"}}},
            {"build", {{"revision", "test"}}},
            {"data", {{"kind", "stand-in"}, {"fingerprint", "test"}, {"images", 100}, {"bytes", 11500000}}},
            {"precision", {{"sixteen_bit", config["precision"] == "o0" ? "" : "float16"}}},
            {"world_size", ranks ? config["devices"].get<int>() * config["nodes"].get<int>() : 1},
            {"cache", {{"state", config["cache"] == "cold" ? "cold" : "none"}}}};
  }

  void add_one(const std::string& id, const Times& times, int repeat, int repeats) {
    constexpr int kBatches = 4;
    const double slower = 1 + 0.002 * (repeat - repeats / 2);  // runs differ a little, as runs do
    json record = identity(id);
    double step = 0;
    for (const auto& [phase, ms] : times) {
      record["samples_ms"][phase] = json::array();
      for (int rank = 0; rank < record["world_size"].get<int>(); ++rank)
        record["samples_ms"][phase].push_back(std::vector<double>(kBatches, ms * slower));
      step += ms * slower;
    }
    record["device_ms"] = record["samples_ms"];
    record["device_ms"].erase("load");
    record["timed_batches"] = kBatches;
    record["total_s"] = kBatches * step / 1000;
    record["repeat"] = repeat;
    records_.push_back(record);
  }

  std::string scale_;
  std::map<std::string, json> rows_;
  std::vector<json> records_;
};

Times step_of(double load, double compute) {
  return {{"load", load}, {"h2d", 1}, {"forward", 0.3 * compute}, {"backward", 0.7 * compute}, {"step", 1}};
}

// Missing, failed, of smoke scale: whatever the claim, there is nothing to judge.
void expect_untestable_without(const std::string& id, Records records, int claim, size_t part) {
  records.set(id, "/status", "CRASHED");
  records.set(id, "/reason", "signal 11");
  EXPECT_EQ(records.verdict(claim, part), Verdict::cannot_be_tested);
  EXPECT_NE(records.reason(claim, part).find("CRASHED: signal 11"), std::string::npos)
      << records.reason(claim, part);
  EXPECT_NE(records.reason(claim, part).find(id), std::string::npos);
}

TEST(Claim1, LoadingFromDiskIsMostOfTheTime) {
  Records slow, fast, between;
  slow.add("disk", step_of(90, 28));
  EXPECT_EQ(slow.verdict(1), Verdict::holds) << slow.reason(1);
  EXPECT_EQ(slow.verdict(1, 1), Verdict::holds) << "device works a fourth of the time";
  EXPECT_EQ(claims_of(slow.summary())[0].verdict, Verdict::holds);
  fast.add("disk", step_of(10, 88));
  EXPECT_EQ(fast.verdict(1), Verdict::does_not_hold);
  EXPECT_EQ(fast.verdict(1, 1), Verdict::does_not_hold);
  between.add("disk", step_of(68, 30), 1);
  EXPECT_EQ(between.verdict(1), Verdict::undecided) << "68 % of one run is as good as 62 or 75 %";
  EXPECT_NE(between.reason(1).find("--repeat"), std::string::npos);
  expect_untestable_without("disk", slow, 1, 0);
}

TEST(Claim1, NeedsAProvenColdCacheAndARealDisk) {
  Records records;
  records.add("disk", step_of(90, 28));
  Records warm = records, shaped = records, shaped_silently = records, processor = records;
  warm.set("disk", "/cache/state", "unknown");
  EXPECT_EQ(warm.verdict(1), Verdict::cannot_be_tested);
  shaped.set("disk", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(shaped.verdict(1), Verdict::by_construction);
  EXPECT_NE(shaped.reason(1).find("26 MB/s"), std::string::npos);
  shaped_silently.set("disk", "/config/read_rate", 26e6);
  EXPECT_EQ(shaped_silently.verdict(1), Verdict::by_construction);
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(1), Verdict::holds) << processor.reason(1);
  EXPECT_EQ(processor.verdict(1, 1), Verdict::cannot_be_tested);
  EXPECT_EQ(claims_of(processor.summary())[0].verdict, Verdict::cannot_be_tested) << "one part can't be told";
}

TEST(Claim1, OnSharedCoresWaitsAreOnlyTheLeastShareOfLoading) {
  Records records("rehearsal");
  records.add("disk", step_of(10, 88));
  records.set("", "/device/kind", "cpu");
  records.set("", "/machine/cores", 2);
  EXPECT_EQ(records.verdict(1), Verdict::cannot_be_tested);
  EXPECT_NE(records.reason(1).find("1 replica and 4 loader threads share 2 cores"), std::string::npos);
  Records measured = records;
  measured.set("", "/ceilings", {{"compute_ms", 60.0}});
  EXPECT_EQ(measured.verdict(1), Verdict::does_not_hold) << "40 % with what it slows";
  measured.set("", "/ceilings", {{"compute_ms", 20.0}});
  EXPECT_EQ(measured.verdict(1), Verdict::holds) << "80 %";
}

TEST(Claim2, LmdbInOrderIsFastAndShuffledSlower) {
  Records records, reversed, idle;
  records.add("disk-in-order", step_of(60, 30));
  records.add("lmdb", step_of(20, 30));
  records.add("lmdb-shuffled", step_of(40, 30));
  EXPECT_EQ(records.verdict(2, 0), Verdict::holds) << records.reason(2, 0);
  EXPECT_EQ(records.verdict(2, 1), Verdict::holds) << records.reason(2, 1);
  reversed.add("disk-in-order", step_of(20, 30));
  reversed.add("lmdb", step_of(60, 30));
  reversed.add("lmdb-shuffled", step_of(40, 30));
  EXPECT_EQ(reversed.verdict(2, 0), Verdict::does_not_hold);
  EXPECT_EQ(reversed.verdict(2, 1), Verdict::does_not_hold);
  for (const char* id : {"disk-in-order", "lmdb", "lmdb-shuffled"}) idle.add(id, step_of(1, 60));
  EXPECT_EQ(idle.verdict(2, 0), Verdict::cannot_be_tested);
  EXPECT_NE(idle.reason(2, 0).find("neither row waits"), std::string::npos);
  Records warm = records;
  warm.set("lmdb", "/cache/state", "warm");
  EXPECT_EQ(warm.verdict(2, 0), Verdict::cannot_be_tested);
  expect_untestable_without("lmdb-shuffled", records, 2, 1);
}

TEST(Claim3, TmpfsRemovesLoadingAndLeavesComputingAlone) {
  Records records;
  records.add("disk", step_of(60, 30));
  records.add("tmpfs", step_of(1, 30));
  EXPECT_EQ(records.verdict(3, 0), Verdict::holds) << records.reason(3, 0);
  EXPECT_EQ(records.verdict(3, 1), Verdict::holds) << records.reason(3, 1);
  Records shaped = records;
  shaped.set("disk", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(shaped.verdict(3, 0), Verdict::by_construction);
  EXPECT_EQ(shaped.verdict(3, 1), Verdict::by_construction);
  Records crowded = records;
  crowded.set("", "/device/kind", "cpu");
  EXPECT_EQ(crowded.verdict(3, 1), Verdict::cannot_be_tested) << "17 threads on 16 cores";
  EXPECT_NE(crowded.reason(3, 1).find("--set cpus=17"), std::string::npos) << crowded.reason(3, 1);
  Records waiting, fast_disk;
  waiting.add("disk", step_of(60, 30));
  waiting.add("tmpfs", step_of(40, 50));
  EXPECT_EQ(waiting.verdict(3, 0), Verdict::does_not_hold);
  EXPECT_EQ(waiting.verdict(3, 1), Verdict::does_not_hold);
  fast_disk.add("disk", step_of(1, 30));
  fast_disk.add("tmpfs", step_of(1, 30), 1);
  EXPECT_EQ(fast_disk.verdict(3, 0), Verdict::cannot_be_tested) << "nothing to remove";
  EXPECT_EQ(fast_disk.verdict(3, 1), Verdict::undecided) << "one run can't show equality within 5 %";
  expect_untestable_without("tmpfs", records, 3, 0);
}

TEST(Claim4, SixteenBitsShortenComputing) {
  Records records, slower;
  for (Records* some : {&records, &slower}) {
    some->add("tmpfs", step_of(1, 30));
    some->add("o1", step_of(1, 20));
  }
  records.add("o2", step_of(1, 18));
  EXPECT_EQ(records.verdict(4, 0), Verdict::holds) << records.reason(4, 0);
  slower.add("o2", step_of(1, 40));
  EXPECT_EQ(slower.verdict(4, 0), Verdict::does_not_hold) << "O1 alone is not enough";
  EXPECT_NE(slower.reason(4, 0).find("O2"), std::string::npos);
  Records other_type = records;
  other_type.set("o2", "/precision/sixteen_bit", "bfloat16");
  EXPECT_NE(other_type.reason(4, 0).find("in bfloat16, the article's is float16"), std::string::npos);
  Records emulating = records;
  emulating.set("", "/device/kind", "cpu");
  EXPECT_EQ(emulating.verdict(4, 0), Verdict::cannot_be_tested) << "the processor lacks the instructions";
  emulating.set("", "/machine/sixteen_bit_instructions", {"avx512_bf16"});
  EXPECT_EQ(emulating.verdict(4, 0), Verdict::holds);
  expect_untestable_without("o1", records, 4, 0);
}

Verdict verdict_on_accuracy(const AccuracyRow& mode) {
  Records records;
  records.add("tmpfs", step_of(1, 30));
  Summary summary = records.summary();
  summary.accuracy = {mode};
  return claims_of(summary)[3].parts.at(1).verdict;
}

TEST(Claim4, AccuracyNeedsRealClassesAndSeveralSeeds) {
  AccuracyRow mode;
  mode.precision = "o2";
  mode.kind = "real";
  mode.status = "OK";
  mode.paired_seeds = 5;
  mode.less_o0 = -0.001, mode.less_o0_min = -0.003, mode.less_o0_max = 0.002;
  EXPECT_EQ(verdict_on_accuracy(mode), Verdict::holds);
  mode.less_o0_min = -0.02;
  EXPECT_EQ(verdict_on_accuracy(mode), Verdict::undecided);
  mode.less_o0 = -0.015, mode.less_o0_max = -0.01;
  EXPECT_EQ(verdict_on_accuracy(mode), Verdict::does_not_hold);
  AccuracyRow synthetic = mode, few = mode, failed = mode;
  synthetic.kind = "synthetic";
  few.paired_seeds = 1;
  failed.status = "DIVERGED";
  for (const AccuracyRow& other : {synthetic, few, failed})
    EXPECT_EQ(verdict_on_accuracy(other), Verdict::cannot_be_tested);
}

TEST(Claim4, OneDivergedRowShowsTheRiskAndNoneShowsNothing) {
  Records records;
  records.add("o2", step_of(1, 18));
  EXPECT_EQ(records.verdict(4, 2), Verdict::cannot_be_tested);
  records.add_failed("o3", "DIVERGED", "loss is not finite from batch 12 on");
  EXPECT_EQ(records.verdict(4, 2), Verdict::holds);
}

// Rows [0], [5], [7] and [1], [2], [4] with the compute and copies between devices of 1, 2 and 4 devices.
Records on_devices(const std::vector<double>& compute, const std::vector<double>& copies,
                   const std::vector<double>& load = {1, 1, 1}) {
  Records records;
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
  const Records scaling = on_devices({80, 40, 20}, {0.1, 6, 10}, {1, 4, 20});
  EXPECT_EQ(scaling.verdict(5), Verdict::holds) << scaling.reason(5);
  EXPECT_EQ(scaling.verdict(6), Verdict::holds) << scaling.reason(6);
  EXPECT_EQ(scaling.verdict(7, 0), Verdict::holds) << scaling.reason(7, 0);
  EXPECT_EQ(scaling.verdict(7, 1), Verdict::holds) << scaling.reason(7, 1);
  const Records opposite = on_devices({20, 40, 20}, {0.1, 6, 1}, {10, 1, 1});
  EXPECT_EQ(opposite.verdict(5), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(6), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(7, 0), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(7, 1), Verdict::does_not_hold);
  for (const auto& [claim, part] : {std::pair(5, 0), {6, 0}, {7, 0}, {7, 1}})
    expect_untestable_without("7", scaling, claim, size_t(part));
}

TEST(Claims5To7, SayNothingOfReplicasThatShareCores) {
  Records records("rehearsal");
  for (const char* id : {"0", "5", "7", "1", "2", "4"}) records.add(id, step_of(1, 40));
  records.set("", "/device/kind", "cpu");
  records.set("", "/rank_map", {{{"host", "vm"}, {"cpus", {0, 1}}}});
  for (const auto& [claim, part] : {std::pair(5, 0), {6, 0}, {7, 0}, {7, 1}}) {
    EXPECT_EQ(records.verdict(claim, size_t(part)), Verdict::cannot_be_tested);
    EXPECT_NE(records.reason(claim, size_t(part)).find("4 replicas and 4 loader threads share 2 cores"),
              std::string::npos)
        << records.reason(claim, size_t(part));
  }
}

TEST(Claims5To7, AReadRateMakesDevicesWaitByConstruction) {
  Records records = on_devices({80, 40, 20}, {0.1, 6, 10}, {1, 4, 20});
  records.set("7", "/emulated", {"read_rate: 26 MB/s"});
  EXPECT_EQ(records.verdict(6), Verdict::by_construction);
}

TEST(Claim8, ThreadsHelpUntilTheyAreTooMany) {
  const auto sweep = [](double seven, double ten, double eleven) {
    Records records;
    records.add("7", step_of(seven, 20));
    records.add("10", step_of(ten, 20));
    records.add("11", step_of(eleven, 20));
    return records;
  };
  const Records helps = sweep(20, 5, 10);
  EXPECT_EQ(helps.verdict(8, 0), Verdict::holds) << helps.reason(8, 0);
  EXPECT_EQ(helps.verdict(8, 1), Verdict::holds) << helps.reason(8, 1);
  const Records hurts = sweep(5, 20, 10);
  EXPECT_EQ(hurts.verdict(8, 0), Verdict::does_not_hold);
  EXPECT_EQ(hurts.verdict(8, 1), Verdict::does_not_hold);
  Records clipped = helps;
  clipped.set("10", "/notes", {"cpus: 48 clipped to 16"});
  EXPECT_EQ(clipped.verdict(8, 0), Verdict::cannot_be_tested);
  EXPECT_NE(clipped.reason(8, 0).find("48 clipped to 16"), std::string::npos);
  Records few_cores = helps;
  few_cores.set("10", "/config/cpus", 16);
  EXPECT_NE(few_cores.reason(8, 0).find("48 loader threads share 16 cores"), std::string::npos);
  expect_untestable_without("11", helps, 8, 1);
}

TEST(Claim9, ScatterShowsAndBroadcastIsSmall) {
  const auto dp = [](double scatter, double broadcast) {
    Records records;
    Times times = step_of(1, 40);
    times["scatter"] = scatter;
    times["broadcast"] = broadcast;
    records.add("7", times);
    return records;
  };
  const Records holds = dp(10, 1), opposite = dp(1, 10);
  EXPECT_EQ(holds.verdict(9, 0), Verdict::holds) << holds.reason(9, 0);
  EXPECT_EQ(holds.verdict(9, 1), Verdict::holds) << holds.reason(9, 1);
  EXPECT_EQ(opposite.verdict(9, 0), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(9, 1), Verdict::does_not_hold);
  Records processor = holds;
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(9, 0), Verdict::cannot_be_tested);
  Records no_clock = holds;
  no_clock.set("", "/device_ms", json::object());
  EXPECT_EQ(no_clock.verdict(9, 0), Verdict::cannot_be_tested)
      << "host times of a GPU are when work was handed over";
  expect_untestable_without("7", holds, 9, 1);
}

// DP [10] and DDP [12].
Records processes(double dp_compute, double ddp_compute, double dp_h2d, double ddp_h2d, double dp_scatter) {
  Records records;
  Times dp = step_of(1, dp_compute), ddp = step_of(1, ddp_compute);
  dp["h2d"] = dp_h2d;
  ddp["h2d"] = ddp_h2d;
  dp["scatter"] = dp_scatter;
  records.add("10", dp);
  records.add("12", ddp);
  return records;
}

TEST(Claims10And11, DdpTakesAThirdOffWithTheSameComputing) {
  const Records holds = processes(20, 20, 4, 1, 7), opposite = processes(20, 40, 1, 1, 1);
  EXPECT_EQ(holds.verdict(10, 0), Verdict::holds) << holds.reason(10, 0);
  EXPECT_EQ(holds.verdict(10, 1), Verdict::holds) << holds.reason(10, 1);
  EXPECT_EQ(holds.verdict(11), Verdict::holds) << holds.reason(11);
  EXPECT_EQ(opposite.verdict(10, 0), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(10, 1), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(11), Verdict::does_not_hold);
  EXPECT_EQ(processes(20, 20, 1, 1, 40).verdict(10, 0), Verdict::does_not_hold) << "far more than a third";
  Records other_machine = holds;
  other_machine.set("12", "/machine/host", "another");
  EXPECT_NE(other_machine.reason(10, 0).find("also differ in machine/host"), std::string::npos);
  Records other_model = holds;
  other_model.set("12", "/config/model", "resnet50");
  EXPECT_NE(other_model.reason(11).find("also differ in model"), std::string::npos);
  for (const auto& [claim, part] : {std::pair(10, 0), {10, 1}, {11, 0}})
    expect_untestable_without("12", holds, claim, size_t(part));
}

TEST(Claims10To13, SayNothingOfRanksThatShareCores) {
  Records records("rehearsal");
  for (const char* id : {"10", "12", "13", "14", "15"}) records.add(id, step_of(1, 40));
  records.set("", "/device/kind", "cpu");
  records.set("", "/machine/cores", 2);
  for (const auto& [claim, part] : {std::pair(10, 0), {10, 1}, {11, 0}, {12, 0}, {13, 0}, {13, 1}})
    EXPECT_EQ(records.verdict(claim, size_t(part)), Verdict::cannot_be_tested) << claim;
  EXPECT_NE(records.reason(12).find("4 ranks and 12 loader threads share 2 cores"), std::string::npos);
}

TEST(Claim12, PackagesAreTestedForEqualityAndNeverRanked) {
  const auto three = [](double apex, double horovod, int repeats = 5) {
    Records records;
    records.add("12", step_of(1, 40), repeats);
    records.add("13", step_of(1, apex), repeats);
    records.add("15", step_of(1, horovod), repeats);
    return records;
  };
  EXPECT_EQ(three(40, 40.5).verdict(12), Verdict::holds) << three(40, 40.5).reason(12);
  EXPECT_NE(three(40, 40.5).reason(12).find("not the packages"), std::string::npos);
  EXPECT_EQ(three(40, 50).verdict(12), Verdict::does_not_hold);
  EXPECT_EQ(three(40, 30).verdict(12), Verdict::does_not_hold) << "faster is as unequal as slower";
  EXPECT_EQ(three(40, 40, 1).verdict(12), Verdict::undecided) << "one run shows no equality";
  expect_untestable_without("15", three(40, 40), 12, 0);
}

TEST(Claim13, SyncBnAddsALittleAndWaitsAtItsFirstLayer) {
  const auto with = [](double sync_bn, double first, double later) {
    Records records;
    records.add("13", step_of(1, 40));
    records.add("14", step_of(1, sync_bn));
    records.set("14", "/communication", {{"ceiling_ms", 1.0}});
    const auto spans = [](double ms) { return std::vector(4, std::vector(4, ms)); };
    records.set("14", "/spans_ms", {{"sync_bn/bn1", spans(first)}, {"sync_bn/layer1.0.bn1", spans(later)}});
    return records;
  };
  const Records holds = with(43, 5, 0.5), opposite = with(60, 1, 1);
  EXPECT_EQ(holds.verdict(13, 0), Verdict::holds) << holds.reason(13, 0);
  EXPECT_EQ(holds.verdict(13, 1), Verdict::holds) << holds.reason(13, 1);
  EXPECT_EQ(opposite.verdict(13, 0), Verdict::does_not_hold);
  EXPECT_EQ(opposite.verdict(13, 1), Verdict::does_not_hold);
  expect_untestable_without("14", holds, 13, 0);
  expect_untestable_without("14", holds, 13, 1);
}

TEST(Claim14, HalfPrecisionGainsOnDdpToo) {
  Records faster, slower;
  faster.add("12", step_of(1, 40));
  faster.add("16", step_of(1, 30));
  slower.add("12", step_of(1, 30));
  slower.add("16", step_of(1, 40));
  EXPECT_EQ(faster.verdict(14), Verdict::holds) << faster.reason(14);
  EXPECT_EQ(slower.verdict(14), Verdict::does_not_hold);
  expect_untestable_without("16", faster, 14, 0);
}

TEST(Claim15, AShapedLinkNeverHolds) {
  Records faster, slower;
  faster.add("17", step_of(1, 60));
  faster.add("18", step_of(1, 40));
  slower.add("17", step_of(1, 40));
  slower.add("18", step_of(1, 60));
  EXPECT_EQ(faster.verdict(15), Verdict::holds) << faster.reason(15);
  EXPECT_EQ(slower.verdict(15), Verdict::does_not_hold);
  for (Records* some : {&faster, &slower}) {
    some->set("17", "/emulated", {"link: ethernet: veth at 200 Mbit/s"});
    EXPECT_EQ(some->verdict(15), Verdict::by_construction);
    EXPECT_NE(some->reason(15).find("veth at 200 Mbit/s"), std::string::npos);
  }
  expect_untestable_without("18", faster, 15, 0);
}

TEST(Claim16, KernelsOfDdpRunMoreOfTheTime) {
  const auto rows = [](double dp_load, double ddp_load) {
    Records records;
    records.add("7", step_of(dp_load, 20));
    records.add("12", step_of(ddp_load, 20));
    return records;
  };
  EXPECT_EQ(rows(40, 2).verdict(16), Verdict::holds) << rows(40, 2).reason(16);
  EXPECT_NE(rows(40, 2).reason(16).find("GIL"), std::string::npos);
  EXPECT_EQ(rows(2, 2).verdict(16), Verdict::does_not_hold);
  Records processor = rows(40, 2);
  processor.set("", "/device/kind", "cpu");
  EXPECT_EQ(processor.verdict(16), Verdict::cannot_be_tested);
  expect_untestable_without("7", rows(40, 2), 16, 0);
}

TEST(Claim17, ImageNetFitsByItsRealSize) {
  Records records;
  records.add("tmpfs", step_of(1, 30));
  EXPECT_EQ(records.verdict(17), Verdict::cannot_be_tested) << "stand-in images";
  const auto folder = [&](double images, double bytes, int classes) {
    records.set("", "/data",
                {{"kind", "folder"}, {"images", images}, {"bytes", images * bytes}, {"classes", classes}});
    return records.verdict(17);
  };
  EXPECT_EQ(folder(1281167, 115000, 1000), Verdict::holds) << records.reason(17);
  EXPECT_EQ(folder(1281167, 130000, 1000), Verdict::does_not_hold);
  EXPECT_EQ(folder(20000, 115000, 1000), Verdict::holds) << records.reason(17);
  EXPECT_EQ(folder(20000, 121000, 1000), Verdict::undecided);
  EXPECT_EQ(folder(20000, 115000, 200), Verdict::cannot_be_tested) << "another data set";
  EXPECT_EQ(folder(500, 115000, 1000), Verdict::cannot_be_tested) << "too few";
}

TEST(Claims, RowsThatDidNotRunAreNamed) {
  Records records;
  records.add("7", step_of(1, 30));
  EXPECT_EQ(records.verdict(5), Verdict::cannot_be_tested);
  EXPECT_EQ(records.reason(5), "[0] [5] [1] [2] [4] did not run");
}

TEST(Claims, SmokeScaleGivesNoVerdict) {
  Records records("smoke");
  records.add("disk", step_of(90, 28));
  records.add("17", step_of(1, 40));
  for (const Claim& claim : claims_of(records.summary())) {
    EXPECT_EQ(claim.verdict, Verdict::cannot_be_tested) << claim.number;
    EXPECT_EQ(claim.mark, "SMOKE");
  }
}

TEST(Claims, AnotherMatrixHasNone) {
  Records records;
  records.add("7", step_of(1, 30));
  records.set("7", "/config/identity", "own");
  EXPECT_TRUE(claims_of(records.summary()).empty());
  EXPECT_TRUE(claims_grid(records.summary()).empty());
}

TEST(Claims, GridStatesTheScaleAndFitsAConsole) {
  Records records("rehearsal");
  records.add("disk", step_of(90, 28), 1);
  const Grid grid = claims_grid(records.summary());
  EXPECT_NE(grid.above.at(0).find("REHEARSAL"), std::string::npos);
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

TEST(Audit, ShowsItsArithmetic) {
  const std::string text = markdown_text(audit_grid());
  for (const char* part : {"300 x 233.8 ms = 70.1 s", "= 21 %", "154140672 bytes; 11.3", "= 7.29", "-16.6 %"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  std::istringstream lines(console_text(audit_grid()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), kConsoleWidth) << line;
}

}  // namespace
}  // namespace harness
