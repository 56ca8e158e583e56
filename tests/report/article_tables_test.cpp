// unit: the article's tables from golden records: cells, marks, ratios next to the article's, missing figures
#include "harness/report/article_tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "harness/report/table.h"
#include "tests/support/article_records.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::article_tables_test {

using namespace article_records;

const Grid& table(const std::vector<Grid>& tables, const std::string& title) {
  for (const Grid& grid : tables)
    if (grid.title.rfind(title, 0) == 0) return grid;
  throw std::runtime_error("no " + title);
}

std::string cell(const Grid& grid, const std::string& row, const std::string& header) {
  for (size_t i = 0; i < grid.columns.size(); ++i)
    for (const auto& cells : grid.rows)
      if (grid.columns[i].header == header &&
          (cells[0] == row || cells[0].rfind(row + "~", 0) == 0 || cells[0].rfind(row + " ", 0) == 0))
        return cells.at(i);
  return "no such cell";
}

void expect_cells(const Grid& grid, const std::string& row, const std::map<std::string, std::string>& cells) {
  for (const auto& [header, text] : cells)
    EXPECT_EQ(cell(grid, row, header), text) << header << " of " << row;
}

// The article's ratio, in the last column but one.
std::string articles_ratio(const Grid& grid, const std::string& line) {
  EXPECT_EQ(grid.columns.at(grid.columns.size() - 2).header, "article");
  for (const auto& cells : grid.rows)
    if (cells[0] == line) return cells.at(cells.size() - 2);
  return "no such line";
}

std::string text(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

TEST(ArticleTables, TheBaselinesBatchIsComparedWithTheArticlesRatios) {
  std::vector<json> records = {record_of("disk", with(kOne, {{"load", 101}})), record_of("tmpfs", kOne)};
  EXPECT_EQ(cell(table(tables_of(records), "Table 1: a batch"), "SGD", "against the article"),
            "too few runs");
  const std::vector<Grid> tables = tables_of(five_runs(records));
  const Grid& batch = table(tables, "Table 1: a batch");
  EXPECT_EQ(cell(batch, "load", "disk"), "101.0");
  EXPECT_EQ(cell(batch, "load", "article"), "-") << "the article states no figure";
  EXPECT_EQ(cell(batch, "backward", "article"), "164.7") << "of disk";
  EXPECT_EQ(cell(batch, "H2D", "disk / tmpfs"), "1.00 (0.94 to 1.06)");
  EXPECT_EQ(articles_ratio(batch, "H2D"), "0.88") << "13.6 / 15.4";
  EXPECT_EQ(articles_ratio(batch, "SGD"), "0.95") << "1.8 / 1.9";
  EXPECT_EQ(cell(batch, "SGD", "against the article"), "reproduced");
  EXPECT_EQ(cell(batch, "total s", "disk / tmpfs"), "3.86 (3.63 to 4.09)");
  EXPECT_EQ(articles_ratio(batch, "total s"), "3.82");
  EXPECT_EQ(cell(batch, "total s", "against the article"), "reproduced");
  EXPECT_SAYS(text(batch.notes), "154,140,672 B");
  const Grid& platform = table(tables, "Table 1: platform");
  EXPECT_EQ(cell(platform, "lmdb", "here"), "0.9");
  EXPECT_EQ(cell(platform, "images per batch", "here"), "16");
  EXPECT_EQ(cell(platform, "cpus", "here"), "4 = 1 C0~");
  EXPECT_EQ(tables.size(), 2u) << "no other row was run";
}

TEST(ArticleTables, OnOtherDevicesPhasesAreComparedWithTheHostsPart) {
  std::vector<json> records = {record_of("disk", kOne), record_of("tmpfs", kOne)};
  for (json& record : records) record["device"]["kind"] = "cuda";
  const Grid batch = table(tables_of(records), "Table 1: a batch");
  EXPECT_EQ(articles_ratio(batch, "forward"), "1.95") << "15.4 / 7.9, not 67.3 / 67.5";
  EXPECT_EQ(articles_ratio(batch, "H2D"), "0.88") << "no figure of the host's part";
}

TEST(ArticleTables, LaunchTimesAreNextToDeviceTimesWhereThereAreSome) {
  std::vector<json> records = {record_of("tmpfs", kOne)};
  for (const Grid& grid : tables_of(records)) EXPECT_NE(grid.title, "Table 1: starting work and doing it");
  const double host = records[0]["samples_ms"]["forward"][0][0].get<double>();
  json device = json::array();
  for (size_t batch = 0; batch < records[0]["samples_ms"]["forward"][0].size(); ++batch)
    device.push_back((batch % 2 == 0 ? 4 : 6) * host);
  records[0]["device_ms"]["forward"] = json::array({device});
  const Grid launching = table(tables_of(records), "Table 1: starting");
  ASSERT_EQ(launching.rows.size(), 2u) << "no device time of other phases";
  EXPECT_EQ(launching.rows[0],
            (std::vector<std::string>{"forward, host", fmt::format("{:.1f}", host), "7.90"}));
  EXPECT_EQ(launching.rows[1],
            (std::vector<std::string>{"forward, device", fmt::format("{:.1f}", 5 * host), "67.5"}));
}

TEST(ArticleTables, AnEmulatedDiskMakesLoadingByConstructionAndNotComputing) {
  std::vector<json> records = {record_of("disk", with(kOne, {{"load", 101}})), record_of("tmpfs", kOne)};
  records[0]["emulated"] = {"read_rate: 26 MB/s"};
  const Grid batch = table(tables_of(five_runs(records)), "Table 1: a batch");
  EXPECT_EQ(cell(batch, "total s", "against the article"), "by construction");
  EXPECT_EQ(cell(batch, "load", "against the article"), "by construction");
  EXPECT_EQ(cell(batch, "forward", "against the article"), "reproduced");
}

TEST(ArticleTables, LmdbShowsLoadingBeforeAndAfterTheStartUp) {
  std::vector<json> records = {record_of("disk", kOne), record_of("lmdb", kOne)};
  for (size_t i = 0; i < 50; ++i) records[1]["samples_ms"]["load"][0][i] = 7.0;
  const Grid lmdb = table(tables_of(records), "Table 2");
  expect_cells(lmdb, "lmdb", {{"load 1-50", "7.00"}, {"51-", "1.00"}, {"load", "6.00"}});
  EXPECT_EQ(cell(lmdb, "lmdb", "base / row"), "no such cell")
      << "its base was not run, and no row has a ratio";
  EXPECT_EQ(cell(lmdb, "lmdb-shuffled", "total s"), "not run");
  EXPECT_SAYS(text(lmdb.notes), "about lmdb: very fast");
}

TEST(ArticleTables, PrecisionMarksTheFigureWhoseRowIsInferred) {
  std::vector<json> records = {
      record_of("tmpfs", kOne), record_of("o1", with(kOne, {{"backward", 40}})),
      record_of("o2", with(kOne, {{"backward", 10}})),
      failed(record_of("o3", kOne), "DIVERGED", "loss is not finite from batch 12 on")};
  const Grid speed = table(tables_of(five_runs(records)), "Table 3: precision, speed");
  expect_cells(speed, "o2",
               {{"as run", "O2 in bf16"},
                {"bwd", "10.0"},
                {"base / row", "1.40 (1.32 to 1.49)"},
                {"article", "1.26~"},
                {"against the article", "reproduced"}});
  EXPECT_EQ(cell(speed, "o1", "against the article"), "-");
  EXPECT_EQ(cell(speed, "tmpfs", "base / row"), "-") << "its base is in Table 1";
  expect_cells(speed, "o3", {{"total s", "DIVERGED"}, {"bwd", "-"}});
  EXPECT_SAYS(text(speed.notes), "o3: DIVERGED: loss is not finite");
  EXPECT_SAYS(text(speed.notes), "~ not stated by the article");
}

TEST(ArticleTables, AccuracyIsHeadedSyntheticWhereItIs) {
  const std::vector<json> records = {record_of("tmpfs", kOne)};
  Summary summary = summarise(typed(records)).at(0);
  AccuracyRow trained;
  trained.id = "accuracy-o2";
  trained.precision = "o2";
  trained.label = "O2 in bf16";
  trained.kind = "synthetic";
  trained.status = "OK";
  trained.seeds = trained.paired_seeds = 3;
  trained.top1.median = 0.812;
  trained.top1.low = 0.80;
  trained.top1.high = 0.83;
  trained.less_o0.median = -0.01;
  summary.accuracy = {trained};
  Grid accuracy = table(article_tables(summary), "Table 3: precision, accuracy");
  EXPECT_SAYS(accuracy.title, "synthetic classes: no evidence");
  EXPECT_EQ(cell(accuracy, "accuracy-o2", "top-1 % (range)"), "81.2 (80.0 to 83.0)");
  EXPECT_EQ(cell(accuracy, "accuracy-o2", "top-1 less O0, points (range)").substr(0, 4), "-1.0");
  EXPECT_SAYS(text(accuracy.notes), "without any loss of accuracy");
  summary.accuracy[0].kind = "real";
  accuracy = table(article_tables(summary), "Table 3: precision, accuracy");
  EXPECT_EQ(accuracy.title, "Table 3: precision, accuracy");
}

TEST(ArticleTables, DataParallelHasItsCopiesInTwoParts) {
  const auto parallel = with(kOne, {{"scatter", 3}, {"gather", 0.25}, {"broadcast", 1}, {"reduce", 0.5}});
  const std::vector<json> records = {record_of("0", with(kOne, {{"forward", 40}, {"backward", 35}})),
                                     record_of("2", parallel), record_of("3", parallel),
                                     record_of("7", parallel)};
  const Grid parallels = table(tables_of(five_runs(records)), "Table 4");
  EXPECT_EQ(parallels.rows.size(), 8u);
  expect_cells(parallels, "7", {{"dev", "4"}, {"batch", "32"}, {"peer", "3.25"}, {"bc+red", "1.50"}});
  EXPECT_EQ(cell(parallels, "0", "peer"), "-");
  expect_cells(
      parallels, "7",
      {{"base / row", "2.01 (1.90 to 2.14)"}, {"article", "1.97"}, {"against the article", "reproduced"}});
  EXPECT_EQ(cell(parallels, "4", "total s"), "not run");
  EXPECT_EQ(parallels.rows[2][0], "2~");
  EXPECT_EQ(parallels.rows[7][0], "7");
  const std::string notes = text(parallels.notes);
  EXPECT_SAYS(notes, "3: weakly inferred");
  EXPECT_SAYS(notes, "nearly 20 %");
  EXPECT_SAYS(notes, "0: inferred: storage, precision");
  EXPECT_SAYS(text(parallels.above), "REHEARSAL");
  EXPECT_SAYS(text(parallels.above), "100-399");
}

TEST(ArticleTables, ThreadsAreListedAsRunAndAsMultiples) {
  std::vector<json> records = {record_of("7", kOne), record_of("10", with(kOne, {{"backward", 60}})),
                               record_of("11", with(kOne, {{"backward", 70}}))};
  records[1]["config"]["cpus"] = 2;
  records[1]["notes"] = {"cpus: 12 clipped to 2"};
  const Grid threads = table(tables_of(five_runs(records)), "Table 5");
  expect_cells(threads, "10", {{"loader threads", "12 = 3 C0~"}, {"cpus", "2 = 0.5 C0~"}});
  EXPECT_EQ(cell(threads, "11", "cpus"), "16 = 4 C0~");
  EXPECT_EQ(cell(threads, "10", "against the article"), "other direction") << "1.36 there, 0.47 here";
  EXPECT_EQ(cell(threads, "7", "base / row"), "-") << "its ratio is in Table 4";
  EXPECT_SAYS(text(threads.notes), "cpus: 12 clipped to 2");
  EXPECT_SAYS(text(threads.notes), "10 / 11 here: 0.88");
  EXPECT_SAYS(text(threads.notes), "11: inferred: window");
}

TEST(ArticleTables, DdpNextToDataParallelAndTheRestOfTheCascade) {
  const auto ranks = with(kOne, {{"broadcast", 0.5}, {"sync", 4}, {"h2d", 0.125}});
  std::vector<json> records = {record_of("10", with(kOne, {{"scatter", 10}, {"reduce", 5}})),
                               record_of("12", ranks),
                               record_of("13", ranks),
                               record_of("14", with(ranks, {{"forward", 25}})),
                               record_of("15", with(ranks, {{"forward", 45}})),
                               record_of("16", with(ranks, {{"forward", 7}})),
                               record_of("17", with(ranks, {{"sync", 90}})),
                               record_of("18", with(ranks, {{"sync", 6}}))};
  records[6]["emulated"] = {"link: ethernet: veth at 200 Mbit/s"};
  const std::vector<Grid> tables = tables_of(five_runs(records));
  const Grid& ddp = table(tables, "Table 6");
  EXPECT_EQ(cell(ddp, "10", "img"), "32");
  EXPECT_EQ(cell(ddp, "12", "img"), "8") << "each rank copies its own share";
  EXPECT_EQ(cell(ddp, "10", "peer"), "10.0");
  expect_cells(ddp, "12", {{"peer", "-"}, {"sync", "4.00"}});
  EXPECT_SAYS(text(ddp.notes), "not measured in the article");
  const Grid& packages = table(tables, "Table 7");
  EXPECT_EQ(cell(packages, "13", "against the article"), "undecided")
      << "these runs can't tell 1.00 from 1.05";
  EXPECT_EQ(cell(packages, "15", "against the article"), "differs");
  EXPECT_EQ(cell(packages, "14", "against the article"), "-") << "not one of those called equal";
  EXPECT_SAYS(text(packages.notes), "not ranked");
  const Grid& o2 = table(tables, "Table 8");
  expect_cells(o2, "16", {{"article", "1.07"}, {"fwd", "7.00"}});
  const Grid& nodes = table(tables, "Table 9");
  EXPECT_EQ(nodes.rows[1][0], "17~ E");
  expect_cells(nodes, "17", {{"Mbit/s", "200~"}, {"against the article", "by construction"}});
  EXPECT_EQ(cell(nodes, "18", "against the article"), "other direction") << "not emulated";
  EXPECT_SAYS(text(nodes.notes), "veth at 200 Mbit/s");
  EXPECT_SAYS(text(nodes.notes), "18: inferred: batch, precision");
}

TEST(ArticleTables, NoRatioAcrossTheTwoWindows) {
  std::vector<json> records = {record_of("10", kOne), record_of("12", kOne)};
  records[0]["config"]["window"] = "0-299";
  const Grid ddp = table(tables_of(records), "Table 6");
  expect_cells(ddp, "12", {{"base / row", "no such cell"}, {"article", "no such cell"}});
  EXPECT_SAYS(text(ddp.above), "no ratios between the two windows");
}

TEST(ArticleTables, RepeatsGiveARangeAndFiveOfThemAnInterval) {
  std::vector<json> records;
  for (int repeat = 0; repeat < 5; ++repeat) {
    records.push_back(record_of("12", kOne, repeat));
    records.push_back(record_of("16", with(kOne, {{"backward", 18.0 - repeat}}), repeat));
  }
  const Grid five = table(tables_of(records), "Table 8");
  EXPECT_SAYS(text(five.notes), "exact 95 % interval over 5");
  records.resize(6);
  const Grid three = table(tables_of(records), "Table 8");
  EXPECT_EQ(cell(three, "16", "base / row"), "1.09 (1.01 to 1.18)") << "Student's t, two degrees of freedom";
  EXPECT_SAYS(text(three.notes), "three runs of each row give the interval");
  records.resize(4);
  const Grid two = table(tables_of(records), "Table 8");
  EXPECT_EQ(cell(two, "16", "base / row"), "1.08 (1.06 to 1.09)") << "35 / 33 to 35 / 32";
  EXPECT_SAYS(text(two.notes), "Otherwise the range, of which there is no verdict: it takes 5 runs");
  records.resize(2);
  const Grid one = table(tables_of(records), "Table 8");
  EXPECT_EQ(cell(one, "16", "base / row"), "1.06");
}

TEST(ArticleTables, RowsOfOtherMatricesHaveNone) {
  json record = record_of("tmpfs", kOne), other = record_of("lmdb", kOne);
  for (json* own : {&record, &other}) (*own)["config"]["identity"] = "own";
  EXPECT_TRUE(tables_of({record, other}).empty()) << "configs/formats.yaml has rows of the same names";
}

TEST(ArticleTables, OlderRecordsGiveEveryTableWithinTheConsole) {
  const std::vector<Grid> tables = article_tables(summarise(typed(golden("matrix.jsonl"))).at(0));
  for (const char* title : {"Table 1: platform", "Table 1: a batch", "Table 2", "Table 3", "Table 4",
                            "Table 5", "Table 6", "Table 8", "Table 7", "Table 9"})
    EXPECT_NO_THROW(table(tables, title)) << title;
  for (const Grid& grid : tables) {
    for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size()) << grid.title;
    std::istringstream lines(console_text(grid));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 120u) << line;
  }
  EXPECT_EQ(cell(table(tables, "Table 9"), "18", "total s"), "SKIPPED");
  EXPECT_EQ(cell(table(tables, "Table 7"), "13", "sync"), "-");
}

TEST(ArticleTables, AReportWritesThemAndShowsThemWhereAsked) {
  const TemporaryFolder folder;
  std::ostringstream end_of_run, report, other;
  const std::vector<json> records = golden("matrix.jsonl");
  const std::vector<Summary> summaries = summarise(typed(records));
  EXPECT_TRUE(write_report(folder, summaries, end_of_run));
  EXPECT_EQ(end_of_run.str().find("Table 4"), std::string::npos);
  EXPECT_SAYS(end_of_run.str(), "article.md");
  EXPECT_TRUE(write_report(folder, summaries, report, Shown::everything));
  EXPECT_SAYS(report.str(), "Table 4");
  for (const char* name : {"article.txt", "article.md", "article.csv"})
    EXPECT_GT(std::filesystem::file_size(folder / name), 1000u) << name;
  const TemporaryFolder another;
  std::vector<json> own = {record_of("tmpfs", kOne)};
  own[0]["config"]["identity"] = "own";
  EXPECT_TRUE(write_report(another, summarise(typed(own)), other, Shown::everything));
  EXPECT_FALSE(std::filesystem::exists(another / "article.md"));
}

}  // namespace harness::article_tables_test
