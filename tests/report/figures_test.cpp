// unit: figures carry the values, order and marks of golden records; specs leave colours to the themes, draw
// without a warning, and a missing renderer is only a warning
#include "harness/report/figures.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "harness/report/figures/figure.h"
#include "harness/stats/records.h"
#include "tests/support/failure_of.h"
#include "tests/support/golden_figures.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

namespace figures_test {

using nlohmann::json;

const std::filesystem::path source = SOURCE_DIR;

class Figures : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ / "plots"); }

  const TemporaryFolder folder_;
  const std::vector<json> records_ = golden("matrix.jsonl");
  const harness::Summary matrix_ = harness::summarise(typed(records_)).at(0);
  std::ostringstream console_;
};

// A browser may draw in a wider font than the one that the renderer measures: DejaVu Sans is a sixth wider
// than Liberation Sans, in bold a quarter. Texts beside each other must not overlap in it.
TEST_F(Figures, ColumnsOfTextLeaveRoomForAWiderFont) {
  for (const std::string name : {"cascade", "phases", "communication"}) {
    const json spec = json::parse(std::ifstream(source / "plots" / (name + ".vl.json")));
    std::map<double, std::pair<double, bool>> columns;  // left edge: limit, bold
    for (const json& layer : spec["layer"])
      if (const json at = layer.value("/encoding/x/value"_json_pointer, json());
          at.is_number() && at < 0 && layer["mark"].is_object() &&
          layer["mark"].value("align", "") == "left" && layer["encoding"]["text"].contains("field"))
        columns[at] = {layer["mark"].value("limit", 0.0), layer["mark"].contains("fontWeight")};
    ASSERT_GE(columns.size(), 2u) << name;
    for (auto left = columns.begin(); left != columns.end(); ++left) {
      const double next = std::next(left) == columns.end() ? 0 : std::next(left)->first;
      const auto& [limit, bold] = left->second;
      EXPECT_LE(left->first + limit * (bold ? 1.25 : 1.17), next) << name << ", column at " << left->first;
    }
  }
}

TEST_F(Figures, CascadeShowsRowsInTheOrderOfTheMatrix) {
  const json figure = figure_of(matrix_, "cascade");
  const json& order = figure.at("/encoding/y/sort"_json_pointer);
  ASSERT_EQ(order.size(), 27u);
  EXPECT_EQ(order[0], "disk");
  EXPECT_EQ(order[26], "18");
  EXPECT_EQ(figure["title"]["text"].get<std::string>().rfind("REHEARSAL: ", 0), 0u);
  EXPECT_SAYS(figure["title"]["subtitle"].dump(), "run a-run");
  EXPECT_SAYS(figure["title"]["subtitle"].dump(), "golden (synthetic test data");
  EXPECT_SAYS(figure.at("/layer/0/encoding/x/title"_json_pointer).dump(), "chain of bases")
      << "a rehearsal's images/s are not beside the article's";
}

TEST_F(Figures, CascadeGivesSkippedRowsAReasonAndNoBar) {
  const json figure = figure_of(matrix_, "cascade");
  for (const json& value : figure["data"]["values"])
    if (value["status"] == "OK") {
      EXPECT_GT(value["here"].get<double>(), 0);
    } else {
      EXPECT_TRUE(value.at("here").is_null());
      EXPECT_EQ(value["status"], "SKIPPED");
      EXPECT_NE(value["reason"], "");
    }
}

TEST_F(Figures, CascadeMarksTheSpreadOfRepeatsAndDisturbedRows) {
  std::vector<json> repeats = {records_[0], records_[0]};
  repeats[1]["repeat"] = 1;
  repeats[1]["total_s"] = 1.5 * repeats[0]["total_s"].get<double>();
  const auto title = [](const json& figure) {
    return figure.at("/layer/0/encoding/x/title"_json_pointer).dump();
  };
  const json quiet = figure_of(harness::summarise(typed(repeats)).at(0), "cascade");
  EXPECT_LT(quiet["data"]["values"][0]["low"], quiet["data"]["values"][0]["high"]);
  EXPECT_EQ(title(quiet).find("others took"), std::string::npos) << title(quiet);
  for (json& record : repeats) record["environment"]["window_steal_share"] = 0.12;
  for (json& record : repeats) record["environment"]["window_outside_share"] = 0.0;
  const json disturbed = figure_of(harness::summarise(typed(repeats)).at(0), "cascade");
  EXPECT_SAYS(title(disturbed), "! others took 2 % or more");
  EXPECT_EQ(disturbed["data"]["values"][0]["disturbed"], true);
}

TEST_F(Figures, APhaseHasOneColourInAllPlots) {
  const auto colours = [&](const char* name, const char* at) {
    const json scale = figure_of(matrix_, name).at(json::json_pointer(std::string(at) + "/scale"));
    std::map<std::string, std::string> list;
    for (size_t i = 0; i < scale["domain"].size(); ++i)
      list[scale["domain"][i].get<std::string>()] = scale["range"][i].get<std::string>();
    return list;
  };
  const auto phases = colours("phases", "/layer/0/encoding/color");
  const auto timeline = colours("timeline", "/spec/encoding/color");
  ASSERT_TRUE(timeline.contains("forward"));
  for (const auto& [phase, colour] : timeline)
    if (phases.contains(phase)) {
      EXPECT_EQ(phases.at(phase), colour) << phase;
    }
}

TEST_F(Figures, PhasesAddUpToTheMeanStep) {
  const json figure = figure_of(matrix_, "phases");
  std::map<std::string, double> sums;
  for (const json& value : figure["data"]["values"])
    if (value.contains("phase")) sums[value["row"]] += value["ms"].get<double>();
  for (const harness::SummaryRow& row : matrix_.rows)
    if (row.ok() && row.run.skew_ms == 0) {
      EXPECT_NEAR(sums[row.id], row.run.mean_ms, 1e-6) << row.id;
    }
  const json& drawn = figure.at("/layer/0/encoding/color/scale/domain"_json_pointer);
  EXPECT_EQ(drawn.front(), "load");
  EXPECT_EQ(drawn.back(), "other");
}

TEST_F(Figures, EveryPhaseHasAColourOfItsOwn) {
  const json palette = json::parse(std::ifstream(source / "plots/palette.json"));
  std::set<std::string> names, colours;
  for (const json& entry : palette) names.insert(entry["name"]), colours.insert(entry["colour"]);
  for (const std::string& phase : harness::phase_names()) EXPECT_TRUE(names.contains(phase)) << phase;
  EXPECT_EQ(colours.size(), palette.size());
}

TEST_F(Figures, ParametersStandForTextsAndForValues) {
  const auto plots = folder_ / "plots";
  std::filesystem::copy(source / "plots/palette.json", plots / "palette.json");
  std::ofstream(plots / "made-up.vl.json")
      << R"({"title": ["${what} of ${count}", "${none}"], "sort": "${rows}", "colour": "${colours}", "x": "${limits}"})";
  harness::FigureData data;
  data.values = {{{"row", "b"}, {"phase", "sync"}}, {{"row", "a ${what}"}, {"phase", "?"}}, {{"row", "b"}}};
  data.params = {{"what", "bars ${count}"}, {"count", 3}, {"none", ""}, {"limits", {0, 1.5}}};
  const json spec = harness::filled_figure(folder_, "made-up", data);
  EXPECT_EQ(spec["title"], json({"bars ${count} of 3"})) << "an empty line is left out";
  EXPECT_EQ(spec["sort"], json({"b", "a ${what}"}));
  EXPECT_EQ(spec["x"], json({0, 1.5}));
  EXPECT_EQ(spec["colour"]["domain"], json({"sync", "other"}));
  EXPECT_EQ(spec["data"]["values"].size(), 3u);
  EXPECT_THROW(harness::filled_figure(folder_, "missing", data), std::runtime_error);
  data.params.erase("what");
  const std::string why = failure_of([&] { harness::filled_figure(folder_, "made-up", data); });
  EXPECT_SAYS(why, "made-up.vl.json");
  EXPECT_SAYS(why, "'what'");
}

// A fixed colour would be unreadable in one of the themes.
void expect_no_fixed_text_colours(const json& node, const std::string& where) {
  if (node.is_object()) {
    if (const json mark = node.value("mark", json()); mark.is_object() && mark["type"] == "text") {
      EXPECT_TRUE(mark.contains("style")) << where << " " << mark;
      EXPECT_FALSE(mark.contains("color") || mark.contains("fill")) << where << " " << mark;
    }
    for (const char* key : {"background", "config", "labelColor", "titleColor", "subtitleColor", "gridColor",
                            "domainColor", "tickColor"})
      EXPECT_FALSE(node.contains(key)) << where << " has " << key;
  }
  if (node.is_structured())
    for (const json& child : node) expect_no_fixed_text_colours(child, where);
}

TEST_F(Figures, SpecsLeaveTextAndBackgroundToTheThemes) {
  for (const auto& entry : std::filesystem::directory_iterator(source / "plots"))
    if (entry.path().string().ends_with(".vl.json"))
      expect_no_fixed_text_colours(json::parse(std::ifstream(entry.path())), entry.path().filename());
}

TEST_F(Figures, BothThemesSetTheSameThings) {
  const json light = json::parse(std::ifstream(source / "plots/light.json")).flatten();
  const json dark = json::parse(std::ifstream(source / "plots/dark.json")).flatten();
  for (const auto& [key, value] : light.items()) EXPECT_TRUE(dark.contains(key)) << key;
  EXPECT_EQ(light.size(), dark.size());
}

TEST_F(Figures, WithoutARendererTheSpecsStayAndTheNextStepIsNamed) {
  const auto project = folder_ / "project";
  std::filesystem::create_directories(project);
  std::filesystem::copy(source / "plots", project / "plots");
  const auto mixed = golden("mixed.jsonl");
  harness::write_figures(folder_, harness::summarise(typed(mixed)), project, console_);
  for (const char* name :
       {"cascade.vl.json", "phases.vl.json", "cascade-smoke-cpu.vl.json", "phases-smoke-cpu.vl.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "plots" / name)) << name;
  EXPECT_SAYS(console_.str(), "warning: plots were not rendered");
  EXPECT_SAYS(console_.str(), "run ./run_matrix once without --no-install, then `./run_matrix plot");
  std::filesystem::create_directories(project / ".venv/bin");
  std::filesystem::create_symlink("/bin/false", project / ".venv/bin/python");
  console_.str("");
  harness::write_figures(folder_, harness::summarise(typed(mixed)), project, console_);
  EXPECT_SAYS(console_.str(), "warning: plots were not rendered, for the reason above; `./run_matrix plot");
}

TEST_F(Figures, OfAnEarlierSetGoAndOtherFilesStay) {
  for (const char* name :
       {"ranks-dark.png", "communication.svg", "phases-smoke-cpu.vl.json", "mine.png", "ranks.txt"})
    std::ofstream(folder_ / "plots" / name) << "old";
  const std::vector<json> one = {records_[0]};
  harness::write_figures(folder_, harness::summarise(typed(one)), source, console_);
  for (const char* name : {"ranks-dark.png", "communication.svg", "phases-smoke-cpu.vl.json"})
    EXPECT_FALSE(std::filesystem::exists(folder_ / "plots" / name)) << name;
  for (const char* name : {"mine.png", "ranks.txt", "cascade.vl.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "plots" / name)) << name;
}

TEST_F(Figures, AreAllDrawnInBothThemesWithoutAWarning) {
  const std::string python = source / ".venv/bin/python";
  if (std::system((python + " -c 'import vl_convert' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no renderer here: .venv has no vl_convert";
  const std::vector<json> records = rich_records();
  std::vector<std::string> names;
  std::string command = python + " " + (source / "plots/render.py").string();
  for (const auto& figure : harness::figures_of(harness::summarise(typed(records)).at(0), "a-run", source)) {
    names.push_back(figure.name);
    const auto file = folder_ / "plots" / (figure.name + ".vl.json");
    std::ofstream(file) << figure.spec;
    command += " " + file.string();
  }
  ASSERT_EQ(names.size(), 6u);
  const auto said = folder_ / "said";
  EXPECT_EQ(std::system((command + " >" + said.string() + " 2>&1").c_str()), 0);
  std::stringstream text;
  text << std::ifstream(said).rdbuf();
  EXPECT_EQ(text.str(), "");
  for (const std::string& name : names)
    for (const char* ending : {".svg", ".png", "-dark.svg", "-dark.png"})
      EXPECT_GT(std::filesystem::file_size(folder_ / "plots" / (name + ending)), 10000u) << name << ending;
  const auto drawn = [&](const char* name) {
    std::stringstream svg;
    svg << std::ifstream(folder_ / "plots" / (std::string(name) + ".svg")).rdbuf();
    return svg.str();
  };
  EXPECT_SAYS(drawn("cascade"), ">SKIPPED: ");
  EXPECT_SAYS(drawn("cascade"), " x [disk]<");
  EXPECT_SAYS(drawn("phases"), " ms<");
  EXPECT_SAYS(drawn("communication"), ">1.00 MB in 2<");
  EXPECT_SAYS(drawn("communication"), ">2.5 ms<");
  EXPECT_SAYS(drawn("timeline"), ">rank 1 collectives<");
}

}  // namespace figures_test
