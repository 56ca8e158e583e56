// unit: summaries and tables of golden records: repeats, ratios, flags, rows without figures, separate scales
#include "harness/report/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/base/file.h"
#include "harness/report/metrics.h"
#include "harness/report/summary/grid.h"
#include "harness/stats/records.h"
#include "tests/support/csv.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

namespace table_test {

using harness::Summary;
using harness::SummaryRow;
using nlohmann::json;

const SummaryRow& row(const Summary& summary, const std::string& id) {
  for (const SummaryRow& one : summary.rows)
    if (one.id == id) return one;
  throw std::runtime_error("no row " + id);
}

std::string codes(const SummaryRow& row) {
  std::string text;
  for (const harness::Flag& flag : row.flags) text += flag.code;
  return text;
}

size_t columns_of(const std::string& line) {
  return size_t(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(GoldenRecords, AreValid) {
  for (const char* name : {"matrix.jsonl", "mixed.jsonl", "repeats.jsonl"})
    for (const json& record : golden(name)) EXPECT_NO_THROW(harness::record_from_json(record)) << name;
}

TEST(Summary, RatiosAreOfSecondsNextToTheArticles) {
  const Summary matrix = harness::summarise(typed(golden("matrix.jsonl"))).at(0);
  ASSERT_EQ(matrix.rows.size(), 27u);
  const SummaryRow& tmpfs = row(matrix, "tmpfs");
  EXPECT_DOUBLE_EQ(*tmpfs.ratio, row(matrix, "disk").total_s / tmpfs.total_s);
  EXPECT_NEAR(*tmpfs.published_ratio, 3.82, 0.005);
  EXPECT_NEAR(*row(matrix, "o2").published_ratio, 1.255, 0.001);
  EXPECT_NEAR(*row(matrix, "7").published_ratio, 1.97, 0.005);
  EXPECT_NEAR(*row(matrix, "12").published_ratio, 1.45, 0.005);
  EXPECT_NEAR(*row(matrix, "16").published_ratio, 1.07, 0.005);
  EXPECT_FALSE(row(matrix, "disk").ratio) << "no base";
  EXPECT_FALSE(row(matrix, "lmdb").published_ratio) << "the article gives no figure";
  EXPECT_TRUE(row(matrix, "1").batch_differs);
  EXPECT_FALSE(row(matrix, "7").batch_differs);
  EXPECT_FALSE(row(matrix, "15").ratio) << "skipped";
}

TEST(Summary, NoArticlesRatioAcrossItsTwoWindows) {
  std::vector<json> records = golden("matrix.jsonl");
  for (json& record : records)
    if (record["row"] == "7") record["config"]["base"] = "tmpfs";
  const SummaryRow across = row(harness::summarise(typed(records)).at(0), "7");
  EXPECT_TRUE(across.window_differs);
  EXPECT_FALSE(across.published_ratio);
}

TEST(Summary, RowsKnowTheAxisOnWhichTheyDifferFromTheirBase) {
  const Summary matrix = harness::summarise(typed(golden("matrix.jsonl"))).at(0);
  EXPECT_EQ(row(matrix, "disk").group, "storage");
  EXPECT_EQ(row(matrix, "tmpfs").group, "storage");
  EXPECT_EQ(row(matrix, "o2").group, "precision");
  EXPECT_EQ(row(matrix, "0").group, "devices");
  EXPECT_EQ(row(matrix, "7").group, "devices");
  EXPECT_EQ(row(matrix, "10").group, "threads");
  EXPECT_EQ(row(matrix, "12").group, "strategy");
  EXPECT_EQ(row(matrix, "16").group, "precision");
  EXPECT_EQ(row(matrix, "18").group, "nodes");
}

TEST(Summary, RepeatsGiveTheirMedianAndRangeAndOnlyOkOnesCount) {
  const std::vector<json> records = golden("repeats.jsonl");
  const Summary repeats = harness::summarise(typed(records)).at(0);
  const SummaryRow& three = row(repeats, "0");
  EXPECT_DOUBLE_EQ(three.total_s, records[2]["total_s"].get<double>());
  EXPECT_DOUBLE_EQ(three.total_min_s, records[0]["total_s"].get<double>());
  EXPECT_DOUBLE_EQ(three.total_max_s, records[1]["total_s"].get<double>());
  EXPECT_NEAR(three.images_per_second, 32 * 20 / three.total_s, 1e-9);
  const SummaryRow& two_of_three = row(repeats, "7");
  EXPECT_TRUE(two_of_three.ok());
  EXPECT_EQ(two_of_three.repeats_ok, 2);
  EXPECT_NE(codes(two_of_three).find('R'), std::string::npos);
  EXPECT_DOUBLE_EQ(two_of_three.total_s,
                   (records[3]["total_s"].get<double>() + records[5]["total_s"].get<double>()) / 2);
}

TEST(Summary, FlagsSayWhatQualifiesARow) {
  const std::vector<Summary> mixed = harness::summarise(typed(golden("mixed.jsonl")));
  EXPECT_EQ(codes(row(mixed.at(0), "disk")), "EB");
  EXPECT_EQ(codes(row(mixed.at(0), "tmpfs")), "MTT");
  const Summary matrix = harness::summarise(typed(golden("matrix.jsonl"))).at(0);
  EXPECT_EQ(matrix.inferred, "learning_rate");
  EXPECT_EQ(codes(row(matrix, "7")), "") << "what all rows share stands in the header";
  EXPECT_EQ(row(matrix, "3").flags.at(0).text, "weakly inferred: number");
  std::vector<json> records = golden("mixed.jsonl");
  records.at(0)["decoded"] = {{"jpeg_engine", 970}, {"cuda", 25}, {"cpu", 5}};
  const Summary decoded = harness::summarise(typed(records)).at(0);
  EXPECT_EQ(codes(row(decoded, "disk")), "EBJ");
  EXPECT_EQ(row(decoded, "disk").flags.at(2).text, "97.0 % of the images decoded on the JPEG engine");
  for (const char* code = "~+ABCDEJMNPRT"; *code; ++code)
    EXPECT_NE(harness::flag_meaning(*code), "") << *code;
}

TEST(Summary, ARowTracedOnAGpuHasNoRate) {
  std::vector<json> records;
  for (const char* id : {"base", "traced"})
    records.push_back({{"row", id},
                       {"device", {{"kind", "cuda"}}},
                       {"config", {{"id", id}, {"base", "base"}, {"batch", 8}, {"timed_batches", 3}}},
                       {"timed_batches", 3},
                       {"total_s", 2.0},
                       {"images_per_second", 12.0},
                       {"samples_ms", {{"forward", {{1.0, 1.0, 1.0}}}}}});
  const auto rate_of = [](const Summary& summary) {
    return harness::metric("images_per_second").figure(row(summary, "traced"));
  };
  const Summary untraced = harness::summarise(typed(records)).at(0);
  EXPECT_TRUE(row(untraced, "traced").ratio);
  EXPECT_TRUE(rate_of(untraced));
  records[1]["trace"] = {{"first", 1}, {"last", 1}};
  const Summary traced = harness::summarise(typed(records)).at(0);
  EXPECT_FALSE(row(traced, "traced").ratio);
  EXPECT_FALSE(rate_of(traced));
  EXPECT_NE(codes(row(traced, "traced")).find('K'), std::string::npos);
  for (json& record : records) record["device"]["kind"] = "cpu";
  EXPECT_TRUE(row(harness::summarise(typed(records)).at(0), "traced").ratio) << "nothing stays attached";
}

TEST(Summary, ScalesNeverShareATable) {
  const std::vector<Summary> mixed = harness::summarise(typed(golden("mixed.jsonl")));
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(mixed[0].mark, "REHEARSAL");
  EXPECT_EQ(mixed[1].mark, "SMOKE");
  EXPECT_EQ(mixed[0].rows.size(), 4u);
}

TEST(Summary, ARowSkippedBeforeItsDeviceWasKnownStaysInTheTable) {
  std::vector<json> records = golden("matrix.jsonl");
  records.back()["device"] = {{"kind", "cpu"}};
  EXPECT_EQ(harness::summarise(typed(records)).size(), 1u);
}

TEST(Summary, BatchesOfDifferentNumbersHaveNoRatio) {
  std::vector<json> records = golden("mixed.jsonl");
  records.pop_back();
  records[0]["timed_batches"] = 10;
  for (json& phase : records[0]["samples_ms"])
    for (json& times : phase) times.erase(times.begin() + 10, times.end());
  const Summary summary = harness::summarise(typed(records)).at(0);
  EXPECT_FALSE(row(summary, "tmpfs").ratio);
  EXPECT_SAYS(summary.timed_batches, "10 | 20");
}

TEST(ConsoleTable, FitsItsWidthAndNamesWhatRan) {
  const std::string text = harness::console_table(harness::summarise(typed(golden("matrix.jsonl"))).at(0));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 120u) << line;
  EXPECT_EQ(text.rfind("REHEARSAL, not the article's hardware", 0), 0u);
  for (const char* part :
       {"golden (synthetic test data, not measured), 2 cores", "LibTorch 0.0.0", "stand-in",
        "fingerprint golden", "SKIPPED: needs the mpi backend", "not for comparisons"})
    EXPECT_SAYS(text, part);
}

TEST(ConsoleTable, ARowThatIsNotOkShowsItsReasonAndNoNumber) {
  const std::string text = harness::console_table(harness::summarise(typed(golden("mixed.jsonl"))).at(0));
  std::istringstream lines(text);
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("DIVERGED") == std::string::npos && line.find("INVALID") == std::string::npos) continue;
    ++found;
    EXPECT_EQ(line.find('%'), std::string::npos);
    EXPECT_EQ(line.find("1.26"), std::string::npos);
  }
  EXPECT_EQ(found, 2);
}

TEST(ConsoleTable, PhasesThatNoRowHasAreLeftOut) {
  const std::vector<Summary> mixed = harness::summarise(typed(golden("mixed.jsonl")));
  EXPECT_EQ(harness::console_table(mixed[0]).find(" bwd comm "), std::string::npos);
  EXPECT_SAYS(harness::console_table(harness::summarise(typed(golden("matrix.jsonl"))).at(0)), " bwd comm ");
}

TEST(MarkdownTable, EveryLineHasAsManyCells) {
  for (const char* name : {"matrix.jsonl", "repeats.jsonl", "mixed.jsonl"}) {
    std::istringstream lines(harness::markdown_table(harness::summarise(typed(golden(name))).at(0)));
    long expected = 0, most = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("|", 0) != 0) {
        expected = 0;  // the next table
        continue;
      }
      for (size_t at = line.find("\\|"); at != std::string::npos; at = line.find("\\|")) line.erase(at, 2);
      const long bars = std::count(line.begin(), line.end(), '|');
      if (!expected) expected = bars;
      EXPECT_EQ(bars, expected) << line;
      most = std::max(most, bars);
    }
    EXPECT_GT(most, 8);
  }
}

TEST(CsvTable, HasOneLinePerRowAndQuotesWhatNeedsIt) {
  std::vector<json> records = golden("mixed.jsonl");
  records[2]["reason"] = "a \"quoted\", word";
  const std::string text = harness::csv_table(harness::summarise(typed(records)));
  EXPECT_EQ(text.rfind("row,title,status,reason,scale,device", 0), 0u);
  EXPECT_SAYS(text, "\"a \"\"quoted\"\", word\"");
  EXPECT_SAYS(text, "\ndisk,files on disk,OK,,rehearsal,cpu,");
  EXPECT_SAYS(text, "\ndisk,files on disk,OK,,smoke,cpu,");
  EXPECT_EQ(text.find('\r'), std::string::npos);
  const auto lines = csv_lines(text);
  for (size_t i = 0; i < harness::metrics().size(); ++i)
    for (size_t line = 1; line < lines.size() && harness::metrics()[i].unit != "text"; ++line)
      EXPECT_EQ(lines[line].at(i).find_first_not_of("0123456789.e+-"), std::string::npos)
          << "a column with a unit has numbers alone: " << harness::metrics()[i].name << " "
          << lines[line][i];
}

TEST(CsvTable, TextThatASpreadsheetWouldEvaluateIsNeutralised) {
  for (const char* text : {"=1+1", "+1", "-x", "@SUM(A1)", "\tx", "\rx", "-1+cmd|' /C calc'!A0", "-inf"})
    EXPECT_EQ(csv_lines(harness::csv_cell(text) + "\n").at(0).at(0), std::string("'") + text) << text;
  for (const char* text : {"", "-0.199113", "-1e-05", "-3", "a=b", "O2 in bf16", "1.5"})
    EXPECT_EQ(harness::csv_cell(text), text) << "a number or plain text stays as it is";
  std::vector<json> records = golden("mixed.jsonl");
  records[0]["config"]["title"] = "=HYPERLINK(\"http://example.org\",\"x\")";
  records[2]["reason"] = "@reason";
  const auto lines = csv_lines(harness::csv_table(harness::summarise(typed(records))));
  EXPECT_EQ(csv_row(lines, 1)["title"], "'=HYPERLINK(\"http://example.org\",\"x\")");
  EXPECT_EQ(csv_row(lines, 3)["reason"], "'@reason");
}

TEST(CsvTable, AFigureThatIsNotThereIsEmptyAndNotZero) {
  const auto lines = csv_lines(harness::csv_table(harness::summarise(typed(golden("matrix.jsonl")))));
  std::map<std::string, std::map<std::string, std::string>> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i].size(), lines[0].size());
    rows[lines[i][0]] = csv_row(lines, i);
  }
  EXPECT_EQ(rows["disk"]["published_s"], "336.524");
  EXPECT_EQ(rows["lmdb"]["published_s"], "") << "the article states no figure";
  EXPECT_EQ(rows["disk"]["batch_differs"], "") << "it has no base to differ from";
  EXPECT_EQ(rows["tmpfs"]["batch_differs"], "0");
  EXPECT_EQ(rows["1"]["batch_differs"], "1");
  for (const char* row : {"disk", "7"}) EXPECT_EQ(rows[row]["skew_ms"], "") << "of one process: " << row;
  EXPECT_NE(rows["12"]["skew_ms"], "");
  EXPECT_EQ(rows["12"]["link_bytes_share"], "") << "one node has no link";
  EXPECT_EQ(rows["disk"]["scatter_share"], "") << "one device scatters nothing";
  EXPECT_EQ(rows["disk"]["scatter_median_ms"], "");
  EXPECT_NE(rows["7"]["scatter_share"], "");
}

TEST(Report, WritesThreeFilesAndSaysWhenThereIsNothing) {
  const TemporaryFolder folder;
  std::ostringstream console, empty;
  const std::vector<json> records = golden("matrix.jsonl");
  const std::vector<Summary> summaries = harness::summarise(typed(records));
  EXPECT_TRUE(harness::write_report(folder, summaries, console));
  for (const char* name : {"table.txt", "table.md", "table.csv"})
    EXPECT_GT(std::filesystem::file_size(folder / name), 1000u) << name;
  const std::string whole = base::read_file(folder.path() / "table.txt"),
                    lost = "records.jsonl:2: not JSON\n";
  harness::write_report(folder, summaries, console, harness::Shown::main_table, lost);
  EXPECT_EQ(base::read_file(folder.path() / "table.txt"), lost + whole);
  EXPECT_FALSE(harness::write_report(folder, {}, empty));
  EXPECT_SAYS(empty.str(), "nothing ran");
  EXPECT_THROW(harness::write_report(folder / "absent", summaries, empty), std::runtime_error);
}

TEST(Metrics, TheReadmeOfResultsListsEveryOne) {
  EXPECT_SAYS(base::read_file(SOURCE_DIR "/results/README.md"), harness::metrics_as_markdown())
      << "put there what ./run_matrix list --metrics prints";
}

TEST(Metrics, HaveOneNameEachAndAFigureOrAText) {
  std::set<std::string> names;
  for (const harness::Metric& metric : harness::metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_NE(bool(metric.figure), bool(metric.text)) << metric.name;
    EXPECT_FALSE(metric.description.empty()) << metric.name;
    EXPECT_TRUE(!metric.better || (metric.figure && !metric.unit.empty())) << metric.name;
  }
}

}  // namespace table_test
