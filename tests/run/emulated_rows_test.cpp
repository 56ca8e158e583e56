// net: rows on emulated devices, from run_matrix to the record: times of the device file, no losses,
// refusals. Times are stretched so far that other tests may run beside these.
#include "tests/support/emulated_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/emulate/two_nodes.h"

namespace harness::emulated_rows_test {
namespace {

TEST_F(EmulatedRows, TakeTheTimesOfTheDeviceFileAndHaveNoLoss) {
  const Records records = rows("0,o1,10,12,14", {"timed_batches=6", "warmup_batches=2", "time_scale=96"});
  ASSERT_EQ(records.size(), 5u);
  const auto row = [&](const std::string& id) -> const Record& {
    return *std::find_if(records.begin(), records.end(), [&](const Record& one) { return one.row == id; });
  };
  EXPECT_TRUE(is_ok(row("o1"))) << row("o1").reason;
  // Batches / 32 at time x 96 take three times as long as the article's: slow enough for a busy machine.
  const auto article_ms = [&](const std::string& id, const std::string& phase) {
    return mean_ms(row(id), phase) / 3;
  };
  EXPECT_NEAR(article_ms("0", "forward"), 512 * 0.28760, 0.5);
  EXPECT_NEAR(article_ms("0", "backward"), 512 * 0.70383, 3.7);
  EXPECT_NEAR(article_ms("0", "h2d"), 27.3, 0.3);
  // DataParallel copies three quarters of the batch to the other devices, and each computes a quarter.
  EXPECT_NEAR(article_ms("10", "forward"), 128 * 0.28760, 0.5);
  EXPECT_NEAR(article_ms("10", "scatter"), 384 * 602112 / 4.5e6, 0.6);
  // Longer where a device had begun its backward pass late.
  EXPECT_NEAR(article_ms("10", "reduce"), 46.8e6 / 8.6e6, 0.3);
  EXPECT_NEAR(article_ms("12", "forward"), 128 * 0.28760, 0.5);
  EXPECT_GT(article_ms("12", "sync"), 0.1) << "the last bucket is ready with the last gradient";
  EXPECT_LT(article_ms("12", "sync"), 20);
  EXPECT_GT(article_ms("14", "forward"), article_ms("12", "forward") + 20 * 0.03) << "20 messages of SyncBN";
  const double late_layer_ms = mean_ms(row("14").spans_ms, "sync_bn/layer4.1.bn2") / 3;
  EXPECT_GT(late_layer_ms, 0.03) << "a message's latency";
  EXPECT_LT(late_layer_ms, 0.5) << "and not the time in which the device catches up with its host";
  for (const char* id : {"0", "10", "12", "14"}) {
    const auto checked = std::any_of(row(id).checks.begin(), row(id).checks.end(),
                                     [](const RecordCheck& check) { return check.name == "schedule"; });
    EXPECT_EQ(checked, row(id).world_size > 1) << id;
    EXPECT_TRUE(is_ok(row(id)));
    EXPECT_TRUE(row(id).loss.empty());
    EXPECT_FALSE(row(id).top1);
    ASSERT_TRUE(row(id).emulation);
    EXPECT_EQ(row(id).emulation->device.h2d_gb_per_s.value, 11.3);
    EXPECT_EQ(row(id).emulation->time_scale, 96);
    ASSERT_FALSE(row(id).emulated.empty());
    EXPECT_SAYS(row(id).emulated[0], "v100-article");
    for (const RecordCheck& check : row(id).checks)
      EXPECT_TRUE(check.name != "loss" && check.name != "gradients" && check.name != "weights") << check.name;
  }
}

TEST_F(EmulatedRows, WithoutCollectivesNothingIsWaitedFor) {
  const Records records =
      rows("12,14", {"timed_batches=6", "warmup_batches=2", "time_scale=96", "collectives=false"});
  ASSERT_EQ(records.size(), 2u);
  for (const Record& record : records) {
    EXPECT_TRUE(is_ok(record)) << record.reason;
    EXPECT_EQ(record.communication->all_reduced_bytes, 0);
    EXPECT_LT(mean_ms(record, "sync") / 3, 0.2) << "kernels that copy the last bucket, no message";
    for (const RecordCheck& check : record.checks) EXPECT_NE(check.name, "schedule");
    EXPECT_NE(std::find(record.emulated.begin(), record.emulated.end(),
                        "collectives: left out, each rank keeps its own gradients; no training"),
              record.emulated.end());
  }
}

TEST_F(EmulatedRows, SendNcclsBytesOverTheLinkBetweenNodes) {
  if (const std::string& why = why_no_two_nodes(); !why.empty()) GTEST_SKIP() << why;
  std::map<std::string, double> step_ms, sent_bytes, sending_ms;
  for (const std::string wire : {"ring", "tree"}) {
    const Records records =
        rows("17,18", {"timed_batches=10", "warmup_batches=3", "time_scale=128", "wire=" + wire}, wire);
    ASSERT_EQ(records.size(), 2u);
    for (const Record& record : records) {
      ASSERT_TRUE(is_ok(record)) << record.reason;  // the check `link` has compared counters and expectation
      ASSERT_TRUE(record.link.has_value());
      sent_bytes[record.row + wire] = double(record.link->nodes.at(0).sent_bytes) / 10;
      step_ms[record.row + wire] = *record.total_s * 1e3 / 10;
      sending_ms[record.row + wire] = mean_ms(record.spans_ms, "communication");
      EXPECT_SAYS(fmt::format("{}", fmt::join(record.emulated, "; ")), "bytes / 64");
    }
  }
  // Gradients of 23.4 MB in 16 bits: 2 * 7 / 8 of them in a ring of eight ranks, 2 * 1 / 2 in a tree of two
  // nodes.
  EXPECT_NEAR(sent_bytes["18ring"], 23.38e6 / 64 * 1.75, 23.38e6 / 64 * 0.2);
  EXPECT_NEAR(sent_bytes["18tree"], 23.38e6 / 64, 23.38e6 / 64 * 0.2);
  // 10 Gbit/s carry 40.9 MB in 32.7 ms; at time x 128 and batch / 32 these are 131 ms.
  EXPECT_GT(sending_ms["17ring"], 125) << "also where the link was idle before";
  EXPECT_GT(step_ms["17ring"], step_ms["17tree"]);
  EXPECT_GT(step_ms["17ring"], step_ms["18ring"]);
}

TEST_F(EmulatedRows, WhatTheyCanNotDoIsRefused) {
  const auto refused = [&](const std::string& device, std::vector<std::string> words,
                           const std::string& why) {
    words.insert(words.begin(), {"--only", "0", "--out", folder_.path() / "never"});
    EXPECT_EQ(run(device, words), 2);
    EXPECT_SAYS(said(), why);
  };
  refused("emulated:none", {}, "no such device file");
  refused("emulated:none", {}, "v100-article");
  refused("emulated", {"--set", "fused_sgd=false"}, "fused_sgd: false is not modelled on device emulated");
  refused("emulated", {"--set", "devices=17", "--set", "strategy=data_parallel", "--set", "batch=32"},
          "at most 16");
  refused("cpu", {"--set", "device_file=v100-article"}, "device_file says how long an emulated device takes");
  refused("cpu:v100-article", {}, "only device emulated has device files");
  refused("emulated", {"--set", "validation=true"}, "there is no accuracy to measure");
  refused("emulated", {"--set", "cuda_graphs=true"}, "there are no CUDA graphs");
  refused("emulated", {"--set", "precision=bf16"}, "no figures for precision bf16");
  refused("emulated", {"--set", "host_work_ms=5"}, "host_work_ms is not modelled");
  refused("emulated", {"--trace", "middle"}, "runs no kernels to trace");
  std::ofstream(folder_.path() / "mixed.yaml")
      << "title: two kinds\nsource: a test\nrows:\n  real: {title: real, identity: own, device: cpu}\n"
         "  made-up: {title: emulated, identity: own, device: emulated}\n";
  EXPECT_EQ(run("auto", {folder_.path() / "mixed.yaml", "--out", folder_.path() / "never"}), 2);
  EXPECT_SAYS(said(), "can't be compared in one run");
}

}  // namespace
}  // namespace harness::emulated_rows_test
