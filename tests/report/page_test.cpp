// unit: report.html as a file: records inside byte by byte, nothing to load, no text that ends its element
#include <gtest/gtest.h>

#include <set>

#include "harness/report/figures.h"
#include "harness/report/grids.h"
#include "harness/report/page_file.h"
#include "harness/report/results.h"
#include "tests/support/embedded.h"
#include "tests/support/failure_of.h"
#include "tests/support/page_run.h"

namespace page_test {

using nlohmann::json;

class Page : public testing::Test {
 protected:
  const PageRun matrix_{golden("matrix.jsonl")};
};

json content_of(const PageRun& run) {
  run.page();
  return json::parse(element(run.text("report.html"), "page"));
}

TEST_F(Page, HoldsTheRecordsByteByByte) {
  std::ofstream(matrix_.folder / "records.jsonl", std::ios::app) << "damaged \xff line\n";
  matrix_.page();
  EXPECT_EQ(unpacked(element(matrix_.text("report.html"), "records")), matrix_.text("records.jsonl"));
}

TEST_F(Page, NamesTheLinesThatItLeftOut) {
  std::ofstream(matrix_.folder / "records.jsonl", std::ios::app) << "damaged\n";
  matrix_.page();
  EXPECT_SAYS(element(matrix_.text("report.html"), "page"), "records.jsonl:28: not JSON");
}

TEST_F(Page, HasTheCommandThatRepeatsTheRun) {
  std::ofstream(matrix_.folder / "request.json") << json{{"config", {SOURCE_DIR "/configs/article.yaml"}},
                                                         {"only", "0,7"},
                                                         {"seed", 2},
                                                         {"scale", "auto"},
                                                         {"oversubscribe", false},
                                                         {"out", "/somewhere/run"},
                                                         {"wrap", "perf stat -o it's.txt"},
                                                         {"set", {"batch=8", "precision=bf16"}}};
  const json page = content_of(matrix_);
  const std::string command =
      R"(./run_matrix configs/article.yaml --only 0,7 --seed 2 --set batch=8 --set precision=bf16 )"
      R"(--wrap 'perf stat -o it'\''s.txt')";
  EXPECT_SAYS(page.dump(), json(command).dump()) << page.dump().substr(0, 300);
}

TEST_F(Page, IsTitledByTheFoldersNameHoweverItIsWritten) {
  const std::filesystem::path folder = matrix_.folder / "";
  const std::string name = folder.parent_path().filename();
  for (const std::filesystem::path& written : {folder, folder / ".", folder / "plots/.."})
    EXPECT_EQ(harness::run_name(written), name) << written;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  EXPECT_EQ(harness::run_name("."), name);
  std::filesystem::current_path(before);
  const auto records = typed(golden("matrix.jsonl"));
  std::ostringstream console;
  harness::write_page(folder / ".", records, harness::summarise(records), "", SOURCE_DIR, console);
  EXPECT_EQ(json::parse(element(matrix_.text("report.html"), "page"))["title"], name);
}

TEST_F(Page, ColumnsLeadToTheOneMeaningOfTheirName) {
  const json page = content_of(matrix_);
  std::set<std::string> explained;
  for (const json& section : page["sections"]) {
    if (section["id"] != "words") continue;
    for (const json& term : section["blocks"][0]["fold"][1][0]["words"])
      EXPECT_TRUE(explained.insert(term[0]).second) << term[0] << " has two meanings";
  }
  for (const auto& [header, word] : page["terms"].items()) EXPECT_EQ(explained.count(word), 1u) << header;
  const std::string text = page["sections"].dump();
  for (const char* header : {"load", "comm", "headroom", "others %"}) {
    EXPECT_TRUE(page["terms"].contains(header)) << header;
    EXPECT_SAYS(text, "\"header\":\"" + std::string(header) + "\"") << header;
  }
}

TEST_F(Page, HostileTextEndsNoElement) {
  const PageRun run(hostile_records());
  run.page();
  const std::string page = run.text("report.html");
  const json data = json::parse(element(page, "page"), nullptr, false);
  ASSERT_FALSE(data.is_discarded());
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_EQ(page.find("<svg onload"), std::string::npos);
  EXPECT_SAYS(data.dump(), "</script><img src=x onerror='count(1)'><!-- <script> {{records}} ]]>")
      << "shown as it is";
}

TEST_F(Page, LoadsNothingFromOutside) {
  matrix_.page();
  std::string page = matrix_.text("report.html");
  EXPECT_SAYS(page, "default-src 'none'");
  for (const char* loader : {"src=\"http", "href=\"http", "@import", "url("})
    EXPECT_EQ(page.find(loader), std::string::npos) << loader;
}

TEST_F(Page, BeginsWithThePictureThreeNumbersAndThatItIsARehearsal) {
  const json data = content_of(matrix_);
  const json& first = data.at("sections").at(0).at("blocks");
  EXPECT_EQ(first.at(0).at("mark").at(0), "REHEARSAL");
  EXPECT_SAYS(first.at(1).at("headline").get<std::string>(), "rows ran on its processor");
  EXPECT_EQ(first.at(2).at("beside").at(0).at(0).at("figure"), "cascade");
  const json& numbers = first.at(2).at("beside").at(1).at(0).at("facts");
  for (const char* label : {"claims", "feed", "trained", "trust"})
    EXPECT_TRUE(std::any_of(numbers.begin(), numbers.end(), [&](const json& fact) {
      return fact.at(0) == label;
    })) << label;
}

TEST_F(Page, ARemarkOfManyRowsStandsOnce) {
  std::vector<json> records;
  for (const char* row : {"0", "1", "0", "7"}) {
    json record = {{"row", row}, {"notes", {"cpus clipped to 2"}}};
    if (records.size() == 3) record["notes"].push_back("of this row alone");
    records.push_back(record);
  }
  const harness::Grid grid = harness::remarks_grid(typed(records));
  ASSERT_EQ(grid.rows.size(), 2u);
  EXPECT_EQ(grid.rows[0], (std::vector<std::string>{"0, 1, 7", "note", "cpus clipped to 2"}));
  EXPECT_EQ(grid.rows[1][0], "7");
}

TEST_F(Page, EveryScaleAndDeviceHasSectionsOfItsOwn) {
  const PageRun run(golden("mixed.jsonl"));
  const json data = content_of(run);
  std::vector<std::string> parts, ids;
  for (const json& section : data.at("sections")) {
    const std::string id = section.at("id");
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0) << id;
    ids.push_back(id);
    if (section.at("title") == "summary") parts.push_back(section.at("part"));
  }
  EXPECT_GE(parts.size(), 2u);
  EXPECT_NE(parts[0], parts[1]);
}

TEST_F(Page, WithoutRendererSaysHowToGetFigures) {
  std::filesystem::create_directory(matrix_.folder / "project");
  std::filesystem::copy(std::filesystem::path(SOURCE_DIR) / "plots", matrix_.folder / "project/plots",
                        std::filesystem::copy_options::recursive);
  matrix_.page(matrix_.folder / "project");
  const std::string page = matrix_.text("report.html");
  EXPECT_SAYS(element(page, "page"), "without --no-install");
  EXPECT_EQ(element(page, "library"), "");
}

TEST_F(Page, ARendererThatFailsIsNamed) {
  const TemporaryFolder project;
  std::filesystem::create_directories(project / ".venv/bin");
  const auto python = project / ".venv/bin/python";
  std::ofstream(python) << "#!/bin/sh\nkill -TERM $$\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  harness::PageFile page;
  testing::internal::CaptureStderr();
  add_drawing_library(page, project.path(), "No charts");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_SAYS(said, "plots/bundle.py was ended by signal 15");
  EXPECT_EQ(page.library, "");
  EXPECT_SAYS(page.page["note"].get<std::string>(), "No charts");
}

TEST_F(Page, ATemplateThatAsksForAnUnknownPartIsNamed) {
  EXPECT_EQ(harness::filled("a {{x}} b {{x}}", {{"x", "{{x}}"}}, "file"), "a {{x}} b {{x}}");
  for (const char* broken : {"{{y}}", "{{x"}) try {
      harness::filled(broken, {{"x", ""}}, "plots/report.html");
      FAIL() << broken;
    } catch (const std::runtime_error& error) {
      EXPECT_SAYS(std::string(error.what()), "plots/report.html");
    }
}

}  // namespace page_test
