// unit: comparison.html as a file: environment first, verdicts, ratios and phases as figures
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/compare/compare_runs.h"
#include "tests/support/embedded.h"
#include "tests/support/made_up_comparison.h"
#include "tests/support/temporary_folder.h"

namespace comparison_page_test {

using harness::Comparison;
using nlohmann::json;

class ComparisonPage : public testing::Test {
 protected:
  json write(const Comparison& comparison) {
    std::ostringstream console;
    harness::write_comparison_page(folder / "comparison.html", comparison, "a", "b", SOURCE_DIR, console);
    std::ifstream input(folder / "comparison.html", std::ios::binary);
    page.assign(std::istreambuf_iterator<char>(input), {});
    return json::parse(element(page, "page"));
  }
  json ratios() const { return json::parse(unpacked(element(page, "figures"))).at("specs").at("ratios"); }
  json rows_drawn() const { return ratios().at("data").at("values"); }

  const TemporaryFolder folder;
  std::string page;
};

TEST_F(ComparisonPage, EnvironmentThenVerdicts) {
  Comparison comparison = made_up_comparison(8);
  comparison.environment = {{"kernel", "Linux 6.1", "Linux 6.8"}};
  const std::string first = write(comparison).at("sections").at(0).dump();
  EXPECT_LT(first.find("Linux 6.8"), first.find("SLOWER"));
  EXPECT_NE(first.find("2 rows: 1, 5"), std::string::npos) << first;
}

TEST_F(ComparisonPage, RowsWithoutAFigureSayWhy) {
  write(made_up_comparison(8));
  if (element(page, "library").empty()) GTEST_SKIP() << "no renderer";
  const json rows = rows_drawn();
  EXPECT_EQ(rows.at(7).at("refused"), "batch 32 and 64");
  EXPECT_FALSE(rows.at(7).contains("ratio"));
  EXPECT_EQ(rows.at(1).at("verdict"), "SLOWER");
}

TEST_F(ComparisonPage, AcrossMachinesThereAreNoVerdicts) {
  const Comparison comparison = across_machines(made_up_comparison(6));
  const json data = write(comparison);
  EXPECT_EQ(data.at("sections").at(0).at("blocks").at(0).at("mark").at(0), "DIFFERENT MACHINES");
  if (element(page, "library").empty()) GTEST_SKIP() << "no renderer";
  EXPECT_EQ(ratios().at("params").at(0), json({{"name", "verdicts"}, {"value", false}}));
}

TEST_F(ComparisonPage, NothingInCommonIsSaid) {
  Comparison comparison;
  comparison.only_in_a = {"0"};
  comparison.only_in_b = {"1"};
  const json data = write(comparison);
  EXPECT_EQ(data.at("sections").at(0).at("blocks").at(0).at("alarm").at(0), "NOTHING COMPARED");
  EXPECT_NE(data.dump().find("Only in A"), std::string::npos);
}

}  // namespace comparison_page_test
