// unit: the bottleneck verdict, from records with known phase times and ceilings.
#include "harness/report/bottleneck.h"

#include <gtest/gtest.h>

#include <map>

#include "harness/report/summary/summary.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::bottleneck_test {

using nlohmann::json;

// One rank, batches of 100 images, ten batches; times in ms of every batch.
struct Given {
  double load = 0, h2d = 1, forward = 30, backward = 60, sync = 0, other = 0;
  double loader_alone = 50, compute_alone = 91, read_share = 0.1, all_reduce_alone = 0;
};

std::string relief_of(const Bottleneck& bottleneck) {
  return bottleneck.changes.size() == 1 ? bottleneck.changes[0] : "not one change";
}

json record_of(const Given& given) {
  const auto batches = [](double ms) { return json::array({std::vector<double>(10, ms)}); };
  const double step = given.load + given.h2d + given.forward + given.backward + given.sync + given.other;
  json record = {{"status", "OK"},
                 {"timed_batches", 10},
                 {"total_s", step * 10 / 1000},
                 {"machine", {{"cores", 8}}},
                 {"config", {{"batch", 100}, {"loader_threads", 2}, {"cpus", 8}}},
                 {"samples_ms",
                  {{"load", batches(given.load)},
                   {"h2d", batches(given.h2d)},
                   {"forward", batches(given.forward)},
                   {"backward", batches(given.backward)},
                   {"sync", batches(given.sync)},
                   {"other", batches(given.other)}}},
                 {"ceilings",
                  {{"batches", 10},
                   {"loader_ms", given.loader_alone},
                   {"read_share", given.read_share},
                   {"compute", {{"h2d", 1.0}, {"forward", 30.0}, {"backward", 60.0}}},
                   {"compute_ms", given.compute_alone}}}};
  if (given.all_reduce_alone > 0)
    record["communication"] = {{"ceiling_ms", given.all_reduce_alone}, {"all_reduces", json::array()}};
  return record;
}

Bottleneck judged(const json& record) {
  const auto found = bottleneck_of(typed(record), run_statistics(typed(record)));
  if (!found) throw std::runtime_error("no verdict");
  return *found;
}

// Its cell in the table.
std::string headroom(const json& record) {
  return bottleneck_grid(summarise(typed(std::vector<json>{record})).at(0)).rows.at(0).at(6);
}

TEST(Bottleneck, IsTheLargestPartThatTheRowWaitsFor) {
  const struct {
    Given given;
    const char *verdict, *cause, *figure = "";
  } cases[] = {
      {{.load = 209, .loader_alone = 290, .read_share = 0.9},
       "loader",
       "storage",
       "load 70 % of the step; 90 %"},
      {{.load = 209, .loader_alone = 290}, "loader", "too few loader threads: 2 on 8 cores"},
      // alone 1000 images/s, the row 662
      {{.load = 60, .loader_alone = 100}, "CPU execution", "loader and training share the cores"},
      {{.h2d = 60}, "memory copy", "copying images to the devices"},
      {{}, "computing", ""},
      {{.other = 80}, "CPU execution", "work of the training thread"},
      {{.forward = 70, .backward = 120}, "CPU execution", "loader and training share the cores"},
      {{.sync = 80, .all_reduce_alone = 75}, "communication", "the link"},
      {{.sync = 80, .all_reduce_alone = 10}, "communication", "ranks wait for one another"},
  };
  for (const auto& [given, verdict, cause, figure] : cases) {
    const Bottleneck it = judged(record_of(given));
    EXPECT_EQ(it.verdict, verdict) << cause;
    EXPECT_EQ(it.cause, cause);
    EXPECT_SAYS(it.figure, figure);
  }
  json record = record_of({.load = 209, .loader_alone = 290});
  record["config"]["loader_threads"] = 8;
  EXPECT_EQ(judged(record).cause, "decoding") << "there are no cores for more threads";
  record["config"]["part"] = "reading";
  EXPECT_EQ(judged(record).cause, "storage") << "nothing is decoded";
}

// 100 images in 425.5 ms: 235 images/s, beside a loader that reaches 240 and a step that reaches 292 alone,
// of which copies take the largest share.
json row_beside_its_ceilings(double loader_alone, double compute_alone) {
  json record = record_of({.load = 85,
                           .h2d = 130,
                           .forward = 70,
                           .backward = 140.5,
                           .loader_alone = loader_alone,
                           .compute_alone = compute_alone});
  record["ceilings"]["compute"] = {{"h2d", 130.0}, {"forward", 70.0}, {"backward", 140.5}};
  return record;
}

TEST(Bottleneck, IsTheCeilingThatTheRowTouches) {
  EXPECT_EQ(judged(row_beside_its_ceilings(417, 342)).verdict, "loader") << "240 and 292 images/s";
  EXPECT_EQ(judged(row_beside_its_ceilings(300, 425)).verdict, "computing") << "as fast as without a loader";
  EXPECT_EQ(judged(row_beside_its_ceilings(430, 425)).verdict, "loader") << "both: the lower one";
  const Bottleneck neither = judged(row_beside_its_ceilings(340, 342));
  EXPECT_EQ(neither.cause, "loader and training share the cores")
      << "294 and 292 images/s, each with all cores";
  EXPECT_EQ(relief_of(judged(row_beside_its_ceilings(417, 342))), "more_threads");
}

TEST(Bottleneck, ACeilingIsTouchedWithinItsInterval) {
  json record = row_beside_its_ceilings(340, 330);
  EXPECT_NE(judged(record).verdict, "loader") << "80 % of it";
  record["ceilings"]["loader_batch_ms"] = {150.0, 530.0, 340.0, 340.0};
  EXPECT_EQ(judged(record).verdict, "loader");
}

TEST(Bottleneck, MoreProcessesThanCoresAreTheCause) {
  json record = record_of({.load = 1, .sync = 40});
  record["world_size"] = 4;
  record["config"].update({{"devices", 4}, {"strategy", "ddp"}, {"backend", "mpi"}});
  EXPECT_NE(judged(record).cause, "4 processes on 2 cores") << "on eight";
  record["machine"]["cores"] = 2;
  EXPECT_EQ(judged(record).verdict, "CPU execution");
  EXPECT_EQ(judged(record).cause, "4 processes on 2 cores");
  record["world_size"] = 1;
  record["config"]["strategy"] = "data_parallel";
  EXPECT_EQ(judged(record).cause, "4 replicas on 2 cores");
}

TEST(Bottleneck, ThereIsNoneAtSmokeNorWhereOthersChangedTheRow) {
  json record = record_of({});
  record["environment"] = {{"window_steal_share", 0.0}, {"window_outside_share", 0.09}};
  EXPECT_EQ(judged(record).verdict, "computing");
  record["environment"]["window_outside_share"] = 0.38;
  EXPECT_EQ(judged(record).verdict, "-");
  EXPECT_EQ(judged(record).cause, "others took 38 % of its processor time");
  EXPECT_TRUE(judged(record).changes.empty());
  record["device"] = {{"kind", "emulated"}};
  EXPECT_NE(judged(record).verdict, "-") << "its check `lag` refuses what others changed";
  json smoke = record_of({});
  smoke["scale"] = {{"name", "smoke"}};
  EXPECT_EQ(judged(smoke).verdict, "-");
}

TEST(Bottleneck, SharesAreTheWholeStep) {
  const StepShares shares =
      judged(record_of({.load = 20, .forward = 40, .sync = 10, .other = 5, .all_reduce_alone = 4})).shares;
  EXPECT_NEAR(shares.loader + shares.copy + shares.communication + shares.device + shares.cpu, 1, 1e-12);
  EXPECT_NEAR(shares.cpu, (10.0 + 5) / 136, 1e-12) << "forward took 10 ms longer than alone";
}

TEST(Bottleneck, CeilingsAndHeadroomAreInImagesPerSecond) {
  // step 300: 200 waiting, 1 + 30 + 60 computing, 9 synchronising; alone the loader takes 280, 252 of it
  // reading
  const Bottleneck it = judged(
      record_of({.load = 200, .sync = 9, .loader_alone = 280, .read_share = 0.9, .all_reduce_alone = 5}));
  EXPECT_NEAR(it.images_per_second, 333.3, 0.1);
  EXPECT_NEAR(it.ceilings.loader.rate.value(), 357.1, 0.1);
  EXPECT_NEAR(it.ceilings.compute.rate.value(), 1098.9, 0.1);
  EXPECT_NEAR(it.ceilings.all_reduce.rate.value(), 20000, 0.1);
  EXPECT_NEAR(it.headroom.value(), 300.0 / 280 - 1, 1e-9);
}

TEST(Bottleneck, AStorageThatReadsFarAheadNeedsAnotherSettingAndNotAnotherDisk) {
  json record = record_of({.load = 209, .loader_alone = 290, .read_share = 0.9});
  record["cache"] = {{"state", "cold"}, {"encoded_bytes", 1000}, {"device_bytes", 3900}};
  EXPECT_EQ(judged(record).cause, "storage");
  record["cache"]["device_bytes"] = 132'000;
  const Bottleneck it = judged(record);
  EXPECT_EQ(it.cause, "storage, which reads ahead");
  EXPECT_SAYS(it.figure, "132 times the bytes");
  EXPECT_EQ(relief_of(it), "no_readahead");
}

TEST(Bottleneck, ACeilingHasAnIntervalAndNoHeadroomBelowItsRow) {
  json record = record_of({.load = 9, .loader_alone = 80});
  record["ceilings"]["loader_batch_ms"] = {70.0, 90.0, 75.0, 85.0, 80.0, 80.0, 78.0, 82.0};
  record["ceilings"]["compute_batch_ms"] = std::vector<double>(8, 91.0);
  const Bottleneck it = judged(record);
  // t(0.975, 7) = 2.365, standard error of the mean 2.146 ms
  ASSERT_TRUE(it.ceilings.loader.range);
  EXPECT_NEAR(it.ceilings.loader.range->low, 1e5 / 85.076, 0.5);
  EXPECT_NEAR(it.ceilings.loader.range->high, 1e5 / 74.924, 0.5);
  EXPECT_EQ(it.ceilings.compute.range->low, it.ceilings.compute.range->high)
      << "all batches took equally long";

  EXPECT_EQ(headroom(record), "+10 %") << "the step takes 100 ms, computing alone 91";
  record["ceilings"]["compute_ms"] = 101.0;
  record["ceilings"]["compute_batch_ms"] = {95.0, 107.0, 100.0, 102.0, 101.0, 101.0};
  EXPECT_EQ(headroom(record), "about 0");
  record["ceilings"]["compute_ms"] = 110.0;
  record["ceilings"]["compute_batch_ms"] = {109.0, 111.0, 110.0, 110.0, 110.0, 110.0};
  EXPECT_EQ(headroom(record), "ceiling < row");
  EXPECT_EQ(headroom(record_of({.loader_alone = 500})), "ceiling < row") << "without times of its batches";
  record["ceilings"]["loader_batch_ms"] = {10.0, 150.0};
  EXPECT_FALSE(judged(record).ceilings.loader.known()) << "its interval is wider than it is";
  EXPECT_EQ(headroom(record), "-");
}

TEST(Bottleneck, WithoutCeilingsThereIsAVerdictAndNoHeadroom) {
  json record = record_of({.load = 209});
  record.erase("ceilings");
  const Bottleneck it = judged(record);
  EXPECT_EQ(it.verdict, "loader");
  EXPECT_FALSE(it.ceilings.loader.known() || it.ceilings.compute.known() || it.headroom);
}

TEST(Bottleneck, OfNonsenseIsNoNumber) {
  json record = record_of({});
  record["ceilings"] = {{"loader_ms", -1}, {"compute_ms", -3}, {"read_share", 12}};
  const Bottleneck it = judged(record);
  EXPECT_FALSE(it.ceilings.loader.known() || it.ceilings.compute.known());
  record.erase("samples_ms");
  EXPECT_FALSE(bottleneck_of(typed(record), run_statistics(typed(record))));
}

TEST(Bottleneck, TheTableSaysInHowManyRepeatsTheVerdictWasTheSame) {
  std::vector<json> records;
  for (int repeat = 0; repeat < 3; ++repeat) {
    json record = record_of(repeat == 0 ? Given{} : Given{.load = 209, .loader_alone = 290});
    record.update({{"schema", 1}, {"row", "x"}, {"repeat", repeat}, {"scale", {{"name", "rehearsal"}}}});
    record["device"] = {{"kind", "cpu"}};
    records.push_back(record);
  }
  const Summary summary = summarise(typed(records)).at(0);
  const Grid grid = bottleneck_grid(summary);
  ASSERT_EQ(grid.rows.size(), 1u);
  EXPECT_EQ(grid.rows[0][1], "loader (2/3)");
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
}

TEST(Bottleneck, HeadroomThatNeedsFreeCoresSaysSo) {
  json record = record_of({.load = 40});
  EXPECT_EQ(headroom(record), "+44 %");
  record["machine"]["cores"] = 2;
  EXPECT_EQ(headroom(record), "+44 % on free cores") << "two loader threads and one that computes";
}

// ---- devices with times of their own ----

using Phases = std::map<std::string, double>;

// A device that runs behind its host: ms of every batch on the device, and on the host, whose waits are all
// in `loss` or `sync`.
json on_device(const Phases& device, const Phases& host) {
  json record = record_of({});
  double step = 0;
  for (const auto& [phase, ms] : device) step += ms;
  record["total_s"] = step * 10 / 1000;
  record["device"] = {{"kind", "cuda"}};
  record.erase("ceilings");
  record["samples_ms"] = json::object();
  for (const auto& [phase, ms] : device)
    record["device_ms"][phase] = json::array({std::vector<double>(10, ms)});
  for (const auto& [phase, ms] : device)
    record["samples_ms"][phase] = json::array({std::vector<double>(10, 0.0)});
  for (const auto& [phase, ms] : host)
    record["samples_ms"][phase] = json::array({std::vector<double>(10, ms)});
  return record;
}

const Phases kHostWaitsInLoss = {{"load", 0}, {"forward", 5}, {"backward", 8}, {"step", 1}, {"loss", 86}};

TEST(BottleneckOfADevice, EachClassIsFoundAlthoughTheHostWaitsInLoss) {
  const auto verdict = [](const Phases& device) {
    return judged(on_device(device, kHostWaitsInLoss)).verdict;
  };
  EXPECT_EQ(verdict({{"load", 50}, {"h2d", 5}, {"forward", 15}, {"backward", 30}}), "loader");
  EXPECT_EQ(verdict({{"load", 1}, {"h2d", 55}, {"forward", 20}, {"backward", 24}}), "memory copy");
  EXPECT_EQ(verdict({{"load", 1}, {"h2d", 4}, {"forward", 30}, {"backward", 65}}), "kernels");
  EXPECT_EQ(verdict({{"load", 20}, {"h2d", 20}, {"forward", 20}, {"backward", 35}, {"other", 5}}), "kernels")
      << "the largest part, without ceilings";
}

TEST(BottleneckOfADevice, ADeviceThatIsNoFasterThanItsHostLaunchesIsBoundByLaunches) {
  const Phases device = {{"h2d", 4}, {"forward", 30}, {"backward", 60}, {"step", 6}};
  const Phases launching = {{"h2d", 1}, {"forward", 31}, {"backward", 58}, {"step", 6}, {"loss", 4}};
  EXPECT_EQ(judged(on_device(device, launching)).verdict, "launch");
  EXPECT_EQ(judged(on_device(device, kHostWaitsInLoss)).verdict, "kernels") << "the host is far ahead";
  EXPECT_EQ(judged(on_device({{"forward", 20}, {"backward", 25}, {"other", 55}}, kHostWaitsInLoss)).cause,
            "work of the training thread");
}

TEST(BottleneckOfADevice, APhaseInWhichTheHostWaitsIsNoLaunching) {
  const Phases device = {{"h2d", 4}, {"forward", 30}, {"backward", 60}, {"step", 6}};
  json waits_in_step = on_device(device, {{"forward", 5}, {"backward", 8}, {"step", 86}});
  EXPECT_EQ(judged(waits_in_step).verdict, "launch");
  waits_in_step["config"]["fused_sgd"] = false;
  waits_in_step["config"]["precision"] = "o2";
  EXPECT_EQ(judged(waits_in_step).verdict, "kernels") << "the loss scaler's answer is waited for";
  json waits_everywhere = on_device(device, {{"forward", 31}, {"backward", 61}, {"step", 6}});
  waits_everywhere["config"]["needless"] = "synchronize";
  EXPECT_EQ(judged(waits_everywhere).verdict, "kernels");
}

// Three ranks whose device waits these ms per batch in `sync`, and computes for the rest of 100.
json three_ranks(const std::vector<double>& waits, double alone) {
  json record = on_device({{"forward", 100}, {"sync", 0}}, kHostWaitsInLoss);
  record["world_size"] = 3;
  json forward = json::array(), sync = json::array();
  for (const double ms : waits) {
    forward.push_back(std::vector<double>(10, 100 - ms));
    sync.push_back(std::vector<double>(10, ms));
  }
  record["device_ms"] = {{"forward", forward}, {"sync", sync}};
  for (auto& [phase, by_rank] : record["samples_ms"].items())
    by_rank = json::array({by_rank[0], by_rank[0], by_rank[0]});
  record["communication"] = {{"ceiling_ms", alone}, {"all_reduces", json::array()}};
  return record;
}

TEST(BottleneckOfADevice, WaitingForTheWireAndForOneSlowRankAreTold) {
  const Bottleneck wire = judged(three_ranks({50, 52, 51}, 48));
  EXPECT_EQ(wire.verdict, "communication");
  EXPECT_EQ(wire.cause, "the link");
  const Bottleneck slow = judged(three_ranks({60, 2, 61}, 2));
  EXPECT_EQ(slow.verdict, "communication");
  EXPECT_EQ(slow.cause, "one slow rank, 1");
  EXPECT_TRUE(slow.changes.empty());
}

TEST(BottleneckOfADevice, ASlowRankIsFoundByHostPhasesToo) {
  json record = three_ranks({60, 2, 61}, 2);
  record["samples_ms"] = record["device_ms"];
  record.erase("device_ms");
  record["device"] = {{"kind", "cpu"}};
  EXPECT_EQ(judged(record).cause, "one slow rank, 1");
}

}  // namespace harness::bottleneck_test
