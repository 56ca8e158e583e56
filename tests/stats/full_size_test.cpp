// unit: rows on emulated devices are shown with the batches and in the time of the devices that they stand
// for.
#include "harness/stats/full_size.h"

#include <gtest/gtest.h>

#include "harness/stats/closed_model.h"
#include "tests/support/emulated_records.h"

namespace harness::full_size_test {
namespace {

Record ran(const std::string& row, double time_scale) {
  Record record;
  record.row = row;
  record.status = "OK";
  record.config.batch = 8;
  record.config.time_scale = time_scale;
  record.emulation.emplace().time_scale = time_scale;
  record.emulation->batch_divisor = record.scale.batch_divisor = 32;
  record.total_s = 10 * time_scale;
  record.images_per_second = 240 / time_scale;
  record.device_ms["forward"] = {{time_scale, 2 * time_scale}};
  record.samples_ms["load"] = {{time_scale}};
  record.ceilings.emplace().loader_ms = 3 * time_scale;
  record.ceilings->compute["forward"] = time_scale;
  record.ceilings->batches = 20;
  record.communication.emplace().ceiling_ms = 4 * time_scale;
  record.timeline.emplace().events = {{0, "host", "load", time_scale, 2 * time_scale}};
  record.accuracy.emplace().top1 = 0.5;
  record.wall_s = 60;
  return record;
}

TEST(FullSize, ARowIsTheSameWhateverItsTimeWasStretchedBy) {
  const Records shown = at_full_size({ran("0", 1), ran("0", 4), ran("18", 16)});
  for (const Record& record : shown) {
    EXPECT_EQ(record.config.batch, 256);
    EXPECT_DOUBLE_EQ(*record.total_s, 320);
    EXPECT_DOUBLE_EQ(*record.images_per_second, 240);
    EXPECT_EQ(record.device_ms.at("forward"), (std::vector<std::vector<double>>{{32, 64}}));
    EXPECT_EQ(record.samples_ms.at("load")[0][0], 32);
    EXPECT_DOUBLE_EQ(*record.ceilings->loader_ms, 96);
    EXPECT_DOUBLE_EQ(record.ceilings->compute.at("forward"), 32);
    EXPECT_DOUBLE_EQ(*record.communication->ceiling_ms, 128);
    EXPECT_DOUBLE_EQ(record.timeline->events[0].end_ms, 64);
    EXPECT_EQ(record.ceilings->batches, 20);
    EXPECT_EQ(record.accuracy->top1, 0.5);
    EXPECT_EQ(record.wall_s, 60) << "of the processes on this machine";
    EXPECT_EQ(record.config.time_scale, 1);
    EXPECT_EQ(record.emulation->batch_divisor, 1);
  }
  EXPECT_TRUE(shown[2].notes.empty());
}

TEST(FullSize, TheClosedFormModelStaysWhatItWas) {
  for (const char* id : {"0", "7", "12"}) {
    const Record record = typed(emulated_records::emulated(id, 100));
    const auto before = closed_model(record), after = closed_model(at_full_size({record})[0]);
    ASSERT_TRUE(before && after);
    EXPECT_NEAR(after->device_ms, before->device_ms, 1e-9) << id;
    EXPECT_NEAR(*after->load_ms, *before->load_ms, 1e-9) << id;
  }
}

TEST(FullSize, TheLimitsOfTheLoaderFollow) {
  Record record = typed(emulated_records::emulated("7", 100));
  record.config.core_images_per_s = 117.5;
  EXPECT_DOUBLE_EQ(loader_images_per_s(record.config), 16 * 117.5 / 8);
  EXPECT_DOUBLE_EQ(loader_images_per_s(at_full_size({record})[0].config), 16 * 117.5);
}

TEST(FullSize, RealDevicesAndRunsOfFeedStayAsTheyAre) {
  Record real = ran("0", 16), feed = ran("search-4", 0.5);
  real.emulation.reset();
  feed.feed.emplace();
  for (const Record& record : at_full_size({real, feed})) EXPECT_EQ(record.config.batch, 8) << record.row;
}

TEST(FullSize, WorkThatExplainAddedGrowsAsTheBatchesDo) {
  Record added = ran("7-added_latency", 8);
  added.intervention.emplace().added_ms = 3;
  const Record full = at_full_size({added})[0];
  EXPECT_DOUBLE_EQ(full.intervention->added_ms / *full.total_s, 3 / *added.total_s);
}

}  // namespace
}  // namespace harness::full_size_test
