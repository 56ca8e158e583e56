// unit: rows on emulated devices whose time runs at different speeds are brought to one.
#include "harness/stats/common_time.h"

#include <gtest/gtest.h>

namespace harness::common_time_test {
namespace {

Record emulated(const std::string& row, double time_scale) {
  Record record;
  record.row = row;
  record.status = "OK";
  record.config.time_scale = time_scale;
  record.emulation.emplace().time_scale = time_scale;
  record.total_s = 10;
  record.images_per_second = 100;
  record.device_ms["forward"] = {{4, 6}};
  record.samples_ms["load"] = {{1}};
  record.ceilings.emplace().loader_ms = 3;
  return record;
}

TEST(CommonTime, TheRarerTimeScaleIsBroughtToTheOthers) {
  const Records shown = in_common_time({emulated("0", 8), emulated("18", 16), emulated("1", 8)});
  EXPECT_EQ(shown[0].total_s, 10);
  EXPECT_TRUE(shown[0].notes.empty());
  EXPECT_EQ(shown[1].total_s, 5);
  EXPECT_EQ(shown[1].images_per_second, 200);
  EXPECT_EQ(shown[1].device_ms.at("forward"), (std::vector<std::vector<double>>{{2, 3}}));
  EXPECT_EQ(shown[1].samples_ms.at("load")[0][0], 0.5);
  EXPECT_EQ(shown[1].ceilings->loader_ms, 1.5);
  EXPECT_EQ(shown[1].config.time_scale, 8);
  EXPECT_EQ(shown[1].emulation->time_scale, 8) << "so that the article's seconds stay what they were";
  EXPECT_EQ(shown[1].notes, std::vector<std::string>{"ran at time x 16, shown as at x 8"});
}

TEST(CommonTime, ARunAtOneTimeScaleStaysAsItIs) {
  const Records shown = in_common_time({emulated("17", 16), emulated("18", 16)});
  for (const Record& record : shown) EXPECT_EQ(record.total_s, 10);
}

TEST(CommonTime, RealDevicesAndRunsOfFeedStayAsTheyAre) {
  Record real = emulated("0", 16), feed = emulated("search-4", 0.5);
  real.emulation.reset();
  feed.feed.emplace();
  const Records shown = in_common_time({real, feed, emulated("0", 8), emulated("1", 8)});
  EXPECT_EQ(shown[0].total_s, 10);
  EXPECT_EQ(shown[1].total_s, 10);
}

}  // namespace
}  // namespace harness::common_time_test
