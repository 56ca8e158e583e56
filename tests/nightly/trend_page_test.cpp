// unit: trend.html as a file: its size, what its first screen says, thinned nights, no text that ends its
// element
#include "harness/nightly/trend_page.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/nightly/trend_chart.h"
#include "tests/support/embedded.h"
#include "tests/support/made_up_trends.h"
#include "tests/support/temporary_folder.h"

namespace trend_page_test {

using nlohmann::json;

class TrendPage : public testing::Test {
 protected:
  json write(const std::vector<harness::Night>& nights, const std::vector<harness::Trend>& trends,
             const std::vector<harness::Alarm>& alarms = {}) {
    std::ostringstream console;
    harness::write_trend_page(folder, trends, alarms, nights, SOURCE_DIR, console);
    std::ifstream input(folder / "trend.html", std::ios::binary);
    page.assign(std::istreambuf_iterator<char>(input), {});
    return json::parse(element(page, "page"));
  }
  json first_screen(const std::vector<harness::Night>& nights,
                    const std::vector<harness::Alarm>& alarms = {}) {
    return write(nights, harness::trends_of(nights), alarms).at("sections").at(0).at("blocks");
  }
  json figures() const { return json::parse(unpacked(element(page, "figures"))); }

  const TemporaryFolder folder;
  std::string page;
};

TEST_F(TrendPage, FiveThousandNightsStayUnderFiveMegabytes) {
  const MadeUp made{.nights = 5000, .row_step = 4900, .machine_step = 3000};
  const auto nights = made_up_nights(made);
  const auto trends = made_up_trends(nights, made);
  const auto begin = std::chrono::steady_clock::now();
  write(nights, trends);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(page.size(), 5'000'000u);
  std::cout << "5000 nights x 27 rows: " << page.size() << " bytes in " << took.count() << " s\n";
  if (element(page, "library").empty()) GTEST_SKIP() << "no renderer";
  EXPECT_EQ(figures().at("specs").size(), 31u);
}

TEST_F(TrendPage, SaysWhatTheLastNightWas) {
  const MadeUp made;
  const auto nights = made_up_nights(made);
  const json blocks = first_screen(nights);
  EXPECT_NE(blocks.dump().find("60, from 2012-01-01"), std::string::npos) << blocks;
  EXPECT_NE(blocks.dump().find("lab-1"), std::string::npos);
  EXPECT_NE(blocks.dump().find("gemm_ms 3."), std::string::npos);
}

TEST_F(TrendPage, AlarmsComeFirstAndMachineChangesAreNoAlarms) {
  const auto nights = made_up_nights({});
  const json blocks = first_screen(nights, {{"k", "7", "m", "2012-02-13T030000-1", 40, 10, 11, ""},
                                            {"k", "1", "m", "2012-01-26T030000-1", 25, 6, 6.3, "gemm_ms"}});
  EXPECT_EQ(blocks.at(0).at("alarm").at(0), "SLOWER");
  EXPECT_NE(blocks.at(0).dump().find("row 7 takes 10.0 % longer"), std::string::npos) << blocks.at(0);
  EXPECT_EQ(blocks.at(1).at("mark").at(0), "MACHINE");
  EXPECT_NE(blocks.at(1).dump().find("gemm_ms"), std::string::npos);
}

TEST_F(TrendPage, AlarmsThatAreNotShownInFullAreCountedAndARowMayHaveSeveral) {
  std::vector<harness::Alarm> alarms;
  for (size_t i = 0; i < 8; ++i)
    alarms.push_back({"k", i % 2 ? "7" : "8", "m", "2012-02-13T030000-1", 40 - i, 10, 11, ""});
  EXPECT_EQ(first_screen(made_up_nights({}), alarms).at(6).at("alarm").at(1),
            "2 more lasting slow-downs, see the table of changes below");
}

TEST_F(TrendPage, OneNightHasAPointPerRow) {
  first_screen(made_up_nights({.nights = 1}));
  if (element(page, "library").empty()) GTEST_SKIP() << "no renderer";
  const json values = figures().at("specs").at("machine-0-row-1").at("data").at("values");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].at("at"), 0);
  EXPECT_GT(values[0].at("value"), 0);
}

TEST_F(TrendPage, ARowThatFailedIsLoud) {
  auto nights = made_up_nights({.nights = 2});
  nights[1].rows[26].totals_s.clear(), nights[1].rows[26].status = "HUNG";
  EXPECT_EQ(first_screen(nights).at(0).at("alarm"), (json{"FAILED", "26 (HUNG)"}));
}

TEST_F(TrendPage, RowsThatWereSkippedHaveNotFailed) {
  auto nights = made_up_nights({.nights = 2});
  for (harness::Night& night : nights) night.rows[0].totals_s.clear(), night.rows[0].status = "SKIPPED";
  const std::string blocks = first_screen(nights).dump();
  EXPECT_EQ(blocks.find("FAILED"), std::string::npos) << blocks;
  EXPECT_NE(blocks.find("No alarm, no failed row."), std::string::npos) << blocks;
  EXPECT_NE(blocks.find("26 OK, 1 skipped"), std::string::npos) << blocks;
}

TEST_F(TrendPage, HostileTextEndsNoElement) {
  auto nights = made_up_nights({.nights = 3});
  const std::string hostile = "</script><img src=x onerror='count(1)'><!-- <script> {{library}} ]]> \xff";
  nights[1].tag = nights[2].tag = nights[2].id = nights[2].host = nights[2].revision = hostile;
  nights[2].started_at = "<svg onload=count(2)>";
  for (harness::Night& night : nights) {
    night.machine = hostile;
    night.rows[0].row = hostile;
    night.canaries[hostile] = 2;
  }
  const json data = write(nights, harness::trends_of(nights));
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_EQ(page.find("<svg onload"), std::string::npos);
  EXPECT_NE(data.dump().find("</script><img src=x onerror='count(1)'>"), std::string::npos)
      << "shown as it is";
}

TEST_F(TrendPage, OtherSettingsAreALineOfTheirOwnBehindABreak) {
  auto nights = made_up_nights({.nights = 30, .rows = 1});
  for (size_t i = 20; i < 30; ++i) nights[i].rows[0].config = "other";
  first_screen(nights);
  if (element(page, "library").empty()) GTEST_SKIP() << "no renderer";
  const json values = figures().at("specs").at("machine-0-row-1").at("data").at("values");
  ASSERT_EQ(values.size(), 30u);
  EXPECT_EQ(values.at(19).at("series"), 0);
  EXPECT_EQ(values.at(20).at("series"), 1);
}

TEST_F(TrendPage, EachMachineHasItsPart) {
  auto nights = made_up_nights({.nights = 5});
  for (const harness::Night& night : made_up_nights({.nights = 4, .machine = "Other", .seed = 2}))
    nights.push_back(night);
  const json data = write(nights, harness::trends_of(nights));
  EXPECT_EQ(data.at("sections").at(1).value("part", ""), "Other") << "the last night's machine first";
  EXPECT_NE(data.dump().find("AMD EPYC, 2 cores, 24 GiB, cpu (5 nights)"), std::string::npos);
}

TEST_F(TrendPage, HostsWithSimilarNamesHavePagesOfTheirOwn) {
  std::ostringstream console;
  const auto nights = made_up_nights({.nights = 2});
  for (const char* host : {"node_1", "node-1"})
    harness::write_trend_page(folder, {}, {}, nights, SOURCE_DIR, console, harness::seconds(), host);
  EXPECT_TRUE(std::filesystem::exists(folder / "trend-node_1.html"));
  EXPECT_TRUE(std::filesystem::exists(folder / "trend-node-1.html"));
}

TEST(NightAxis, OldNightsShareAPlaceAndNewOnesDoNot) {
  const auto nights = made_up_nights({.nights = 5000, .rows = 0});
  std::vector<const harness::Night*> pointers;
  for (const auto& night : nights) pointers.push_back(&night);
  const harness::NightAxis axis(pointers);
  EXPECT_EQ(axis.per_place(), 23u);
  EXPECT_EQ(axis.older(), 200u);
  EXPECT_EQ(axis.size(), 600u);
  EXPECT_EQ(axis.of(nights[22].id), 0u);
  EXPECT_EQ(axis.of(nights[23].id), 1u);
  EXPECT_EQ(axis.of(nights[4999].id), 599u);
  EXPECT_EQ(axis.of(nights[4998].id), 598u);
  pointers.resize(600);
  EXPECT_EQ(harness::NightAxis(pointers).older(), 0u) << "few enough to draw all";
}

}  // namespace trend_page_test
