// unit: figures carry the values, order and marks of golden records, and a missing renderer is only a warning
#include "harness/report/figures.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

namespace {

using nlohmann::json;

const std::filesystem::path source = SOURCE_DIR;

std::vector<json> golden(const std::string& name) {
  std::ifstream file(source / "tests/golden/records" / name);
  std::vector<json> records;
  for (std::string line; std::getline(file, line);) records.push_back(json::parse(line));
  return records;
}

// The figure of that name, null when it was left out.
json figure_of(const harness::Summary& summary, const std::string& name) {
  for (const harness::Figure& figure : harness::figures_of(summary, "a-run", source))
    if (figure.name == name) return figure.spec;
  return nullptr;
}

TEST(Cascade, ShowsRowsInTheOrderOfTheMatrix) {
  const std::vector<json> records = golden("matrix.jsonl");
  const harness::Summary matrix = harness::summarise(records).at(0);
  const json figure = figure_of(matrix, "cascade");
  const json& order = figure.at("/encoding/y/sort"_json_pointer);
  ASSERT_EQ(order.size(), 27u);
  EXPECT_EQ(order[0], "disk");
  EXPECT_EQ(order[26], "18");
  EXPECT_EQ(figure["title"]["text"].get<std::string>().rfind("REHEARSAL: ", 0), 0u);
  EXPECT_NE(figure["title"]["subtitle"].dump().find("run a-run"), std::string::npos);
  EXPECT_NE(figure["title"]["subtitle"].dump().find("golden (synthetic test data"), std::string::npos);
  EXPECT_NE(figure.at("/layer/0/encoding/x/title"_json_pointer).dump().find("on cpu"), std::string::npos);
}

TEST(Cascade, GivesSkippedRowsAReasonAndNoBar) {
  const std::vector<json> records = golden("matrix.jsonl");
  const harness::Summary matrix = harness::summarise(records).at(0);
  const json figure = figure_of(matrix, "cascade");
  for (const json& value : figure["data"]["values"])
    if (value["status"] == "OK") {
      EXPECT_GT(value["total_s"].get<double>(), 0);
    } else {
      EXPECT_TRUE(value["total_s"].is_null());
      EXPECT_FALSE(value.contains("published_label"));
      EXPECT_EQ(value["reason_label"].get<std::string>().rfind("SKIPPED: ", 0), 0u);
    }
}

TEST(Phases, AddUpToTheMeanStep) {
  const std::vector<json> records = golden("matrix.jsonl");
  const harness::Summary matrix = harness::summarise(records).at(0);
  const json figure = figure_of(matrix, "phases");
  std::map<std::string, double> sums;
  for (const json& value : figure["data"]["values"])
    if (value.contains("phase")) sums[value["row"]] += value["ms"].get<double>();
  for (const harness::SummaryRow& row : matrix.rows)
    if (row.ok() && row.run.skew_ms == 0) {
      EXPECT_NEAR(sums[row.id], row.run.mean_ms, 1e-6) << row.id;
    }
  const json& legend = figure.at("/layer/0/encoding/color/legend/values"_json_pointer);
  EXPECT_EQ(legend.front(), "load");
  EXPECT_EQ(legend.back(), "other");
}

TEST(Phases, EveryPhaseHasAColourOfItsOwn) {
  const std::vector<json> records = golden("matrix.jsonl");
  const json scale =
      figure_of(harness::summarise(records).at(0), "phases").at("/layer/0/encoding/color/scale"_json_pointer);
  std::map<std::string, int> colours;
  for (const json& colour : scale["range"]) ++colours[colour];
  EXPECT_EQ(colours.size(), 12u);
  EXPECT_EQ(scale["domain"].size(), 12u);
}

TEST(Figures, WithoutARendererTheSpecsStayAndTheNextStepIsNamed) {
  const auto folder = std::filesystem::temp_directory_path() / ("figures_test_" + std::to_string(getpid()));
  const auto project = folder / "project";
  std::filesystem::create_directories(project);
  std::filesystem::copy(source / "plots", project / "plots");
  std::ostringstream console;
  harness::write_figures(folder, golden("mixed.jsonl"), project, console);
  for (const char* name :
       {"cascade.vl.json", "phases.vl.json", "cascade-smoke-cpu.vl.json", "phases-smoke-cpu.vl.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / "plots" / name)) << name;
  EXPECT_NE(console.str().find("warning: plots were not rendered"), std::string::npos) << console.str();
  EXPECT_NE(console.str().find("run_matrix plot"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Figures, AreRenderedWhereTheRendererIs) {
  if (std::system(
          (source / ".venv/bin/python").string().append(" -c 'import vl_convert' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no renderer here";
  const auto folder =
      std::filesystem::temp_directory_path() / ("figures_test_png_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ostringstream console;
  harness::write_figures(folder, golden("matrix.jsonl"), source, console);
  for (const char* name : {"cascade.svg", "cascade.png", "phases.svg", "phases.png"})
    EXPECT_GT(std::filesystem::file_size(folder / "plots" / name), 10000u) << console.str();
  std::filesystem::remove_all(folder);
}

}  // namespace
