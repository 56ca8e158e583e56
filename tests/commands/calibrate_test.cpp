// unit: The command calibrate: device files from made-up records, and what it refuses.
#include "harness/config/device_file.h"
#include "tests/support/article_records.h"
#include "tests/support/program.h"

namespace harness::calibrate_test {
namespace {

using article_records::failed;
using article_records::record_of;

class Calibrate : public Program {
 protected:
  // A row on one CPU replica with so many images, which takes 1 + 0.2 ms an image for forward and twice that
  // for backward.
  static json cpu_row(const std::string& id, int batch) {
    const double ms = 1 + 0.2 * batch;
    json record = record_of(id, {{"load", 9},
                                 {"h2d", 0.1 * batch},
                                 {"forward", ms - 0.25},
                                 {"loss", 0.25},
                                 {"backward", 2 * ms},
                                 {"step", 2},
                                 {"other", 0.5}});
    record["config"].update({{"storage", "synthetic"}, {"batch", batch}, {"image_px", 64}, {"width", 16}});
    record["started_at"] = "2026-11-22T18:00:00Z";
    return record;
  }
  static json gpu_row(const std::string& id, int batch) {
    json record = cpu_row(id, batch);
    record["config"].update({{"storage", "tmpfs"}, {"device", "cuda"}});
    record["device"] = {{"kind", "cuda"},
                        {"name", "GPU X"},
                        {"settings", {{"h2d_gb_per_s", 24.5}, {"memory_bytes", 80.0 * (1 << 30)}}}};
    record["device_ms"] = record["samples_ms"];
    for (json& batches : record["samples_ms"]) batches = {std::vector<double>(60, 77)};
    return record;
  }
  static json ddp_row() {
    json record = cpu_row("12", 32);
    record["config"].update({{"devices", 2}, {"strategy", "ddp"}});
    record["world_size"] = 2;
    for (json& batches : record["samples_ms"]) batches.push_back(batches[0]);
    record["communication"] = {{"all_reduces", {{{"bytes", 6'000'000}}, {{"bytes", 2'000'000}}}},
                               {"ceiling_ms", 4}};
    return record;
  }
  int calibrate(const std::vector<json>& records, std::vector<std::string> more = {}) {
    fs::create_directories(directory / "night 1");
    write_records("night 1", records);
    more.insert(more.begin(), {"calibrate", directory / "night 1"});
    if (std::find(more.begin(), more.end(), "--out") == more.end())
      more.insert(more.end(), {"--out", directory / "mine.yaml"});
    return run(more);
  }
  EmulatedDevice written() { return read_device_file(directory / "mine.yaml"); }
  void refused(const std::vector<json>& records, const std::string& why, std::vector<std::string> more = {}) {
    EXPECT_EQ(calibrate(records, more), 2);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, why, errors());
    EXPECT_FALSE(fs::exists(directory / "mine.yaml"));
  }
};

TEST_F(Calibrate, TwoBatchSizesTellTheFixedTimeFromThatOfAnImage) {
  ASSERT_EQ(calibrate({cpu_row("0", 32), cpu_row("1", 16)}), 0) << errors();
  const EmulatedDevice device = written();
  EXPECT_EQ(device.name, "mine");
  EXPECT_EQ(device.image_px, 64);
  EXPECT_EQ(device.width, 16);
  const PrecisionCosts& costs = device.models.at("resnet18").at("o0");
  EXPECT_NEAR(costs.forward_ms_per_image.value, 0.2, 1e-5) << "phases forward and loss";
  EXPECT_NEAR(costs.forward_ms.value, 1, 1e-4);
  EXPECT_NEAR(costs.backward_ms_per_image.value, 0.4, 1e-5);
  EXPECT_NEAR(costs.backward_ms.value, 2, 1e-4);
  EXPECT_NEAR(costs.optimizer_ms.value, 2.5, 1e-5) << "phases step and other";
  EXPECT_NEAR(device.h2d_gb_per_s.value, (3 * 64 * 64 * 4 + 8) / 0.1 * 1e-6, 1e-3);
  for (const SourcedFigure* figure : {&costs.forward_ms_per_image, &costs.forward_ms, &costs.optimizer_ms}) {
    EXPECT_EQ(figure->provenance, "measured");
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "run night 1, rows 0, 1, 2026-11-22, golden: ", figure->source);
  }
  EXPECT_EQ(device.launch_us.provenance, "assumed");
  EXPECT_EQ(device.collective_gb_per_s.provenance, "assumed");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "emulated:" + (directory / "mine.yaml").string(), output());
}

TEST_F(Calibrate, OneBatchSizeLeavesTheFixedTimeAssumed) {
  ASSERT_EQ(calibrate({cpu_row("0", 32), cpu_row("1", 16)}, {"--row", "0"}), 0) << errors();
  const PrecisionCosts costs = written().models.at("resnet18").at("o0");
  EXPECT_NEAR(costs.forward_ms_per_image.value, 7.4 / 32, 1e-5);
  EXPECT_EQ(costs.forward_ms.value, 0);
  EXPECT_EQ(costs.forward_ms.provenance, "assumed");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "row 0, ", costs.forward_ms_per_image.source);
}

TEST_F(Calibrate, ALineBelowZeroGoesThroughZero) {
  json small = cpu_row("1", 16);
  small["samples_ms"]["backward"] = {std::vector<double>(60, 1)};
  ASSERT_EQ(calibrate({cpu_row("0", 32), small}), 0) << errors();
  const PrecisionCosts costs = written().models.at("resnet18").at("o0");
  EXPECT_EQ(costs.backward_ms.value, 0);
  EXPECT_NEAR(costs.backward_ms_per_image.value, (32 * 14.8 + 16 * 1) / (32 * 32 + 16 * 16), 1e-5);
}

TEST_F(Calibrate, EachPrecisionOfTheRunHasItsTimes) {
  json o1 = cpu_row("o1", 16);
  o1["samples_ms"]["backward"] = {std::vector<double>(60, 3.2)};
  ASSERT_EQ(calibrate({cpu_row("0", 32), cpu_row("1", 16), o1}), 0) << errors();
  const auto precisions = written().models.at("resnet18");
  EXPECT_EQ(precisions.size(), 2u) << "what the run lacks is left out";
  EXPECT_NEAR(precisions.at("o1").backward_ms_per_image.value, 0.2, 1e-5);
}

TEST_F(Calibrate, GpusAreTimedByTheirOwnClock) {
  ASSERT_EQ(calibrate({gpu_row("0", 32), gpu_row("1", 16)}), 0) << errors();
  const EmulatedDevice device = written();
  const PrecisionCosts& costs = device.models.at("resnet18").at("o0");
  EXPECT_NEAR(costs.forward_ms_per_image.value, 0.2, 1e-5);
  EXPECT_NEAR(costs.forward_ms.value, 0.75, 1e-4) << "without the loss, whose launches are modelled";
  EXPECT_NEAR(costs.optimizer_ms.value, 2, 1e-5);
  EXPECT_NEAR(device.h2d_gb_per_s.value, 24.5, 1e-5);
  EXPECT_NEAR(device.memory_gib.value, 80, 1e-3);
  EXPECT_EQ(device.memory_gib.provenance, "measured");
}

TEST_F(Calibrate, CollectivesComeFromRowsWithSeveralRanks) {
  ASSERT_EQ(calibrate({cpu_row("0", 32), ddp_row()}), 0) << errors();
  const EmulatedDevice device = written();
  EXPECT_NEAR(device.collective_gb_per_s.value, 8e6 / 4e-3 * 1e-9, 1e-6) << "8 MB x 2 (n - 1) / n in 4 ms";
  EXPECT_EQ(device.collective_gb_per_s.provenance, "measured");
  EXPECT_EQ(device.models.at("resnet18").size(), 1u);
}

TEST_F(Calibrate, RanksWithoutCollectivesAreLoneDevicesBesideOthers) {
  json apart = ddp_row();
  apart["row"] = "apart";
  apart["config"].update({{"collectives", false}, {"batch", 64}});  // 32 images each
  apart["communication"] = {{"all_reduces", json::array()}, {"ceiling_ms", 0}};
  ASSERT_EQ(calibrate({apart, ddp_row()}, {"--row", "apart,12"}), 0) << errors();
  const EmulatedDevice device = written();
  EXPECT_NEAR(device.models.at("resnet18").at("o0").forward_ms_per_image.value, 7.4 / 32, 1e-5);
  EXPECT_NEAR(device.collective_gb_per_s.value, 2, 1e-6) << "from the row that communicates";
  fs::remove(directory / "mine.yaml");
  refused({cpu_row("0", 16), apart}, "differ in how many devices share the machine: 1 and 2",
          {"--row", "0,apart"});
  ASSERT_EQ(calibrate({cpu_row("0", 32), cpu_row("1", 16), apart}), 0) << errors();
  EXPECT_NEAR(written().models.at("resnet18").at("o0").forward_ms.value, 1, 1e-4) << "rows 0 and 1 alone";
}

TEST_F(Calibrate, RowsWithoutTimesOfADeviceAreRefusedWithTheReason) {
  json emulated = cpu_row("0", 32);
  emulated["device"]["kind"] = "emulated";
  emulated["config"]["device_file"] = "v100-article";
  refused({emulated},
          "row 0: it ran on an emulated device, whose times are those of device file v100-article");
  refused({failed(cpu_row("0", 32), "CRASHED", "signal 6")}, "row 0: it is CRASHED: signal 6");
  json loading = cpu_row("0", 32);
  loading["config"]["storage"] = "tmpfs";
  refused({loading}, "loader threads of storage tmpfs share the cores");
  refused({loading}, "run for example --only 0,1 --set storage=synthetic");
  refused({cpu_row("1", 16), loading}, "row 0: loader threads", {"--row", "1,0"});
  refused({ddp_row()}, "no row has the times of one device");
  json unclocked = cpu_row("0", 32);
  unclocked["samples_ms"] = json::object();
  refused({unclocked}, "phase_clock is off");
  json traced = cpu_row("0", 32);
  traced["trace"] = {{"file", "trace.json"}, {"ranks", json::array()}};
  refused({traced}, "the cost of a profiler");
  json hostless = gpu_row("0", 32);
  hostless["device_ms"] = json::object();
  refused({hostless}, "row 0: it has no device times");
}

TEST_F(Calibrate, RowsThatCanNotBeMixedAreRefused) {
  json wide = cpu_row("1", 16);
  wide["config"]["width"] = 64;
  refused({cpu_row("0", 32), wide}, "rows 0 and 1 differ in width: 16 and 64; choose rows with --row");
  refused({cpu_row("0", 32), gpu_row("1", 16)}, "rows 0 and 1 differ in their device: golden and GPU X");
  json slower = cpu_row("1", 16);
  slower["samples_ms"]["backward"] = {std::vector<double>(60, 50)};
  refused({cpu_row("0", 32), slower}, "larger batches took no longer in phase backward");
}

TEST_F(Calibrate, BadArgumentsAreRefused) {
  const std::vector<json> good = {cpu_row("0", 32), cpu_row("1", 16)};
  refused(good, "the run has no row 7; it has rows 0, 1", {"--row", "7"});
  refused(good, "a device's name has letters", {"--name", "a/b"});
  refused(good, "must be named after the device, other.yaml", {"--name", "other"});
  refused(good, "ends in .yaml", {"--out", directory / "mine.json"});
  EXPECT_EQ(run({"calibrate", directory / "missing", "--out", directory / "mine.yaml"}), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "missing/records.jsonl", errors());
  ASSERT_EQ(calibrate(good), 0);
  EXPECT_EQ(calibrate(good), 2);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "exists already; --force replaces it", errors());
  EXPECT_EQ(calibrate(good, {"--force"}), 0);
}

}  // namespace
}  // namespace harness::calibrate_test
