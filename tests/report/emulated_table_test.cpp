// unit: emulated rows beside the article's figures and the closed-form model: numbers, marks, what is left
// out
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/report/figures.h"
#include "harness/report/grids.h"
#include "harness/report/metrics.h"
#include "harness/report/page_sections.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "harness/stats/statistics.h"
#include "tests/support/emulated_records.h"
#include "tests/support/failure_of.h"

namespace harness::emulated_table_test {

using emulated_records::emulated;
using emulated_records::failed;
using emulated_records::summary_of;
using nlohmann::json;

// A row's cells by header.
std::map<std::string, std::string> cells(const Grid& grid, const std::string& id) {
  for (const auto& row : grid.rows) {
    if (row[0] != id && row[0].rfind(id + " ", 0) != 0 && row[0].rfind(id + "~", 0) != 0) continue;
    std::map<std::string, std::string> cells;
    for (size_t i = 0; i < row.size(); ++i) cells[grid.columns[i].header] = row[i];
    return cells;
  }
  ADD_FAILURE() << grid.title << " has no row " << id;
  return {};
}

Grid table(const std::vector<json>& records) { return emulated_grid(summary_of(records)); }

std::string differs_in(const Grid& grid, const std::string& id) {
  for (const GridValue& value : grid.values)
    if (value.row == id && value.quantity == "differs") return value.text;
  return "no such row";
}

bool any_line_has(const std::vector<std::string>& lines, const std::string& words) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST(EmulatedTable, BringRowsToTheArticlesSeconds) {
  const std::vector<json> records = {emulated("0", 160), emulated("10", 65.6), emulated("12", 41.6)};
  const Grid cascade = table(records);
  auto row = cells(cascade, "10");
  EXPECT_EQ(row["emulated s"], "65.6");
  EXPECT_EQ(row["article s"], "60.2");
  EXPECT_EQ(row["error"], "+9.0 %");
  EXPECT_EQ(differs_in(cascade, "10"), "");
  EXPECT_EQ(cells(cascade, "0")["used"], "calibrated on its total");
  EXPECT_EQ(row["used"], "held out");
  EXPECT_EQ(row["model s"], "65.5");
  EXPECT_EQ(row["why"],
            "it waits for the device alone; the article's batch takes 18.0 ms less than its figures explain");
  EXPECT_EQ(cells(cascade, "12")["why"], "-");
  EXPECT_TRUE(
      any_line_has(cascade.above, "v100-article is calibrated on [0] (total), [7] (shares of scatter"));
  EXPECT_TRUE(any_line_has(cascade.above, "Held out, emulated / article: [10] +9.0 %, [12] +0.0 %."));
}

TEST(EmulatedTable, RepeatsHaveARange) {
  std::vector<json> records;
  for (int repeat = 0; repeat < 3; ++repeat) records.push_back(emulated("10", 60 + repeat, repeat));
  EXPECT_EQ(cells(table(records), "10")["emulated s"], "61.0 (60.0 to 62.0)");
}

TEST(EmulatedTable, MarkRowsThatAreNotTheArticles) {
  json made_up = emulated("7", 65.6), other = emulated("10", 65.6), limited = emulated("disk", 330);
  made_up["config"]["storage"] = made_up["cache"]["storage_used"] = "synthetic";
  made_up["set"] = "storage=synthetic cache=as_is timed_batches=60 time_scale=8";
  other["set"] = "storage=raw loader_threads=3 ceiling_batches=4";
  other["notes"] = {"cpus: 6 clipped to 2"};
  limited["emulated"].push_back("read_rate: 3.4 MB/s");
  json fast = emulated("lmdb", 80);
  fast["config"]["published_s"] = 100.0;
  const std::vector<json> records = {limited, made_up, other, fast};
  const Grid cascade = table(records);
  EXPECT_EQ(differs_in(cascade, "7"), "made-up batches");
  EXPECT_EQ(differs_in(cascade, "10"), "storage=raw; loader_threads=3; cpus: 6 clipped to 2");
  EXPECT_EQ(differs_in(cascade, "disk"), "read_rate: 3.4 MB/s");
  EXPECT_EQ(cells(cascade, "lmdb")["why"],
            "the storage here keeps up with the device; the article's batch takes 66.7 ms longer");
  EXPECT_EQ(cells(cascade, "7")["used"], "calibrated on its shares of scatter and broadcast");
  EXPECT_EQ(cells(cascade, "7")["error"], "-") << "figures of it calibrated the device";
}

TEST(EmulatedTable, SayWhatARowWaitsFor) {
  json waits = emulated("10", 120), slow = emulated("12", 50);
  waits["device_ms"]["load"] = json(1, json(60, 100.0));
  waits["samples_ms"]["load"] = waits["device_ms"]["load"];
  waits["ceilings"]["loader_ms"] = 190.0;
  // The host launches quickly and waits in `loss`.
  slow["samples_ms"]["loss"] = slow["samples_ms"]["backward"];
  for (json& rank : slow["samples_ms"]["backward"])
    for (json& ms : rank) ms = 1.0;
  const Grid cascade = table({waits, slow});
  EXPECT_SAYS(cells(cascade, "10")["why"], "waits for this machine's loader: load ");
  EXPECT_SAYS(cells(cascade, "12")["why"],
              "28.3 ms a batch above the closed-form model; it waits for kernels");
}

TEST(EmulatedTable, SayWhereTheLoadersRateIsASetting) {
  json limited = emulated("disk", 330), cores = emulated("7", 82), free = emulated("10", 65.6);
  for (json* record : {&limited, &cores}) {
    (*record)["device_ms"]["load"] = json(1, json(60, 400.0));
    (*record)["samples_ms"]["load"] = (*record)["device_ms"]["load"];
  }
  limited["config"]["read_rate"] = 3.4e6;
  limited["emulated"].push_back("read_rate: 3.4 MB/s");
  for (json* record : {&cores, &free}) {
    (*record)["config"]["core_images_per_s"] = 117.5;
    (*record)["emulated"].push_back("cores: each decodes 117.5 images/s");
  }
  const Grid cascade = table({limited, cores, free});
  EXPECT_EQ(cells(cascade, "disk")["used"],
            "calibrated on its times within a batch; its loader's rate is a setting");
  EXPECT_SAYS(cells(cascade, "7")["used"], "; its loader's rate is a setting");
  EXPECT_EQ(cells(cascade, "10")["used"], "held out") << "it doesn't wait for its loader";
  EXPECT_EQ(differs_in(cascade, "7"), "");
  cores["ceilings"]["loader_ms"] = 1000.0;  // 16 images/s instead of 16 x 117.5 / 8
  EXPECT_EQ(cells(table({cores}), "7")["used"], "calibrated on its shares of scatter and broadcast")
      << "this machine's loader is slower than the setting";
  EXPECT_TRUE(any_line_has(cascade.notes, "Emulated cores: each decodes 117.5 images/s."));
}

TEST(EmulatedTable, AFailedRowHasNoNumber) {
  const std::vector<json> records = {emulated("0", 161), failed("12", "INVALID", "lag: rank 2: too late")};
  const Grid grid = table(records);
  const auto row = cells(grid, "12");
  EXPECT_EQ(row.at("emulated s"), "INVALID");
  EXPECT_EQ(row.at("error"), "-");
  for (const GridValue& value : grid.values)
    if (value.row == "12") {
      EXPECT_FALSE(value.figure.value) << value.quantity;
    }
  EXPECT_EQ(row.at("model s"), "-");
  EXPECT_EQ(row.at("why"), "lag: rank 2: too late");
}

TEST(EmulatedTable, WithoutTheDevicesValuesThereIsNoModelAndNothingIsHeldOut) {
  json old = emulated("10", 65.6);
  old.erase("emulation");
  const Grid cascade = table({old});
  EXPECT_EQ(cells(cascade, "10")["emulated s"], "65.6") << "scale and time_scale are recorded";
  EXPECT_EQ(cells(cascade, "10")["error"], "-");
  EXPECT_TRUE(any_line_has(cascade.above, "don't contain their device file"));
  EXPECT_FALSE(any_line_has(cascade.above, "calibrated on"));
}

TEST(EmulatedTable, AnotherDeviceIsNoPredictionOfTheArticle) {
  json other = emulated("10", 20);
  other["emulation"]["device"].erase("calibrated_on");
  const Grid cascade = table({other});
  EXPECT_EQ(cells(cascade, "10")["article s"], "60.2");
  EXPECT_EQ(cells(cascade, "10")["error"], "-");
  EXPECT_FALSE(any_line_has(cascade.above, "calibrated on"));
}

TEST(EmulatedTable, AreAboutEmulatedRowsOnly) {
  const std::vector<json> mixed = {article_records::record_of("0", article_records::kOne), emulated("0", 161),
                                   emulated("12", 41.6)};
  EXPECT_TRUE(emulated_grid(summary_of(mixed, "cpu")).empty());
  EXPECT_EQ(table(mixed).rows.size(), 2u);
  json smoke = emulated("0", 161);
  smoke["scale"]["name"] = "smoke";
  EXPECT_TRUE(emulated_grid(summary_of({smoke})).empty());
  json own = emulated("0", 161);
  own["config"]["identity"] = "own";
  EXPECT_TRUE(emulated_grid(summary_of({own})).empty());
}

TEST(EmulatedFigure, HasTheSameNumbersAndTheWord) {
  const std::vector<json> mixed = {article_records::record_of("0", article_records::kOne), emulated("0", 161),
                                   emulated("10", 65.6), failed("12", "INVALID", "lag")};
  const Records records = at_full_size(typed(mixed));
  const std::vector<Summary> summaries = summarise(records);
  json spec;
  for (const Figure& figure : figures_of(summaries.back(), "run", SOURCE_DIR)) {
    EXPECT_EQ(figure.spec["title"]["text"].get<std::string>().rfind("EMULATED: ", 0), 0u) << figure.name;
    if (figure.name == "cascade") spec = figure.spec;
  }
  ASSERT_FALSE(spec.is_null());
  EXPECT_SAYS(spec["layer"][0]["encoding"]["x"]["title"].dump(), "emulated");
  std::map<std::string, json> rows;
  for (const json& value : spec["data"]["values"]) rows[value["row"]] = value;
  EXPECT_NEAR(rows["10"]["here"], 512 * 300 / 65.6, 1e-6);
  EXPECT_NEAR(rows["10"]["article"], 512 * 300 / 60.2, 1e-6);
  EXPECT_EQ(rows["0"]["by_construction"], true) << "the device file was calibrated on it";
  EXPECT_EQ(rows["10"]["by_construction"], false);
  EXPECT_TRUE(rows["12"].at("here").is_null());
  EXPECT_TRUE(rows["12"].at("article").is_number());
}

TEST(EmulatedFigure, OfAnyScaleSaysThatItIsEmulated) {
  json record = emulated("0", 161);
  record["scale"]["name"] = "article";
  EXPECT_EQ(summary_of({record}).mark, "EMULATED");
  record["scale"]["name"] = "rehearsal";
  EXPECT_EQ(summary_of({record}).mark, "REHEARSAL, EMULATED");
}

TEST(EmulatedSection, ShowsTheTable) {
  const Summary& summary = summary_of({emulated("0", 161), emulated("10", 65.6)});
  for (const json& section : summary_sections(summary, {"cascade"}, "", ""))
    if (section["title"] == "emulated and the article") {
      const json& blocks = section["blocks"];
      ASSERT_EQ(blocks.size(), 1u);
      EXPECT_EQ(blocks[0]["grid"]["rows"].back()[0], "10 E");
      return;
    }
  FAIL() << "no such section";
}

TEST(EmulatedTable, PhasesAreComparedWithTheArticlesKernels) {
  json record = emulated("disk", 81);
  record["samples_ms"]["forward"] = json(1, json(60, 0.2));  // the host only launches
  record["samples_ms"]["backward"] = json(1, json(60, 0.3));
  for (const Grid& grid : article_tables(summary_of({record}))) {
    for (const GridValue& value : grid.values) {
      if (value.row == "disk" && value.quantity == "forward") {
        EXPECT_EQ(value.figure.article, 67.3) << grid.title;
      }
      if (value.quantity == "forward, host") {
        EXPECT_NEAR(*value.figure.value, 0.2, 1e-9) << grid.title;
      }
      if (value.quantity == "forward, device") {
        EXPECT_NEAR(*value.figure.value, 27, 1e-6) << grid.title;
      }
    }
  }
}

TEST(EmulatedTable, StepsAreTheDevicesAlsoWhereTheHostWasLate) {
  json record = emulated("12", 41.6);
  const double step_ms = run_statistics(at_full_size({typed(record)})[0]).mean_ms;
  for (json& ranks : record["samples_ms"])
    for (json& batches : ranks)
      for (json& ms : batches) ms = 1.3 * ms.get<double>();
  const RunStatistics late = run_statistics(at_full_size({typed(record)})[0]);
  EXPECT_NEAR(late.mean_ms, step_ms, 1e-6);
  EXPECT_NEAR(late.mean_ms, 1e3 * late.total_s / double(late.batches), 1);
}

TEST(EmulatedTable, ProcessorTimePerImageIsThatOfTheImagesThatWereLoadedHere) {
  json record = emulated("0", 163);
  const Record here = typed(record);
  const double images = double(here.config.batch) * double(*here.timed_batches);
  record["environment"]["window_own_s"] = 0.6e-3 * images;
  const Summary& summary = summary_of({to_json(at_full_size({typed(record)})[0])});
  EXPECT_NEAR(*metric("cpu_ms_per_image").figure(summary.rows.at(0)), 0.6, 1e-6);
}

}  // namespace harness::emulated_table_test
