// unit: the figures of a night: without the share of the processor that others took, and of emulated devices.
#include <gtest/gtest.h>

#include "harness/nightly/night.h"
#include "harness/nightly/night_summary.h"
#include "harness/nightly/trend.h"
#include "tests/support/emulated_records.h"
#include "tests/support/typed_records.h"

namespace harness::disturbed_night_test {

using nlohmann::json;

// Three runs of a row of `seconds` without others, who took `share` of the processor.
Records night_with(double seconds, double share, const json& config = {{"id", "tmpfs"}}) {
  Records records;
  for (int repeat = 0; repeat < 3; ++repeat)
    records.push_back(typed(json{{"row", "tmpfs"},
                                 {"repeat", repeat},
                                 {"config", config},
                                 {"timed_batches", 2},
                                 {"total_s", seconds / (1 - share)},
                                 {"environment", {{"window_steal_share", share}}}}));
  return records;
}

TEST(DisturbedNight, IsOnePointWithoutTheShareOfOthers) {
  const Night night = night_of("n", night_with(8, 0.2));
  ASSERT_EQ(night.rows.size(), 1u);
  EXPECT_EQ(night.rows[0].undisturbed_s.size(), 3u);
  EXPECT_NEAR(night.rows[0].median_s(), 10, 1e-5);
  EXPECT_NEAR(value_of(night.rows[0], seconds()).value(), 8, 1e-5);
  EXPECT_EQ(trends_of({night}).at(0).values.size(), 1u) << "three runs, one point";
  const std::string text = rows_summary(night, {});
  EXPECT_NE(text.find("tmpfs: 8 s without what others took, 10 s as measured"), std::string::npos) << text;
  const Night back = night_from_json(encode(night));
  EXPECT_EQ(back.rows[0].undisturbed_s, night.rows[0].undisturbed_s);
}

TEST(DisturbedNight, IsAsMeasuredWhereItIsQuietOrTheRowWaits) {
  const Night quiet = night_of("n", night_with(8, 0.01));
  EXPECT_TRUE(quiet.rows[0].undisturbed_s.empty());
  EXPECT_EQ(rows_summary(quiet, {}).find("as measured"), std::string::npos);
  const Night waits = night_of("n", night_with(8, 0.2, {{"id", "tmpfs"}, {"read_rate", 1e6}}));
  EXPECT_TRUE(waits.rows[0].undisturbed_s.empty()) << "it waits for a disk of a set rate";
  EXPECT_EQ(waits.rows[0].spoiled, 3);
  EXPECT_FALSE(value_of(waits.rows[0], seconds())) << "nobody knows how long it took without others";
  EXPECT_NE(rows_summary(waits, {}).find("others took 10 % or more of the cores of 1 row"),
            std::string::npos);
  const Night a_little = night_of("n", night_with(8, 0.05, {{"id", "tmpfs"}, {"read_rate", 1e6}}));
  EXPECT_NEAR(value_of(a_little.rows[0], seconds()).value(), 8 / 0.95, 1e-5);
}

TEST(NightOfAccuracy, HasRowsThatRan) {
  Records records = night_with(8, 0, {{"id", "tmpfs"}, {"validation", true}});
  records[1].status = "HUNG";
  const Night night = night_of("n", records);
  EXPECT_TRUE(night.rows.empty()) << "nights don't compare them";
  const std::string text = rows_summary(night, records);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "rows: 1 OK\n", text);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "tmpfs: 1 of 3 runs HUNG", text);
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "NOTHING WAS MEASURED", text);
}

TEST(EmulatedNight, HasTheSecondsOfTheDevices) {
  const Night night = night_of("n", {typed(emulated_records::emulated("7", 80))});
  ASSERT_EQ(night.rows.size(), 1u);
  const double batches = double(*typed(emulated_records::emulated("7", 80)).timed_batches);
  EXPECT_NEAR(night.rows[0].median_s(), 80 * batches / kArticleBatches, 0.01);
}

}  // namespace harness::disturbed_night_test
