// unit: article.csv: one line for each cell of the article's tables, read as one table by another program
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "harness/base/child_process.h"
#include "harness/report/table.h"
#include "tests/support/article_records.h"
#include "tests/support/csv.h"
#include "tests/support/temporary_folder.h"

namespace harness::article_csv_test {

using namespace article_records;

// The line of a quantity of a row in the table whose title begins so.
std::map<std::string, std::string> line_of(const std::string& csv, const std::string& table,
                                           const std::string& row, const std::string& quantity) {
  const auto lines = csv_lines(csv);
  for (size_t i = 1; i < lines.size(); ++i)
    if (lines[i].at(0).rfind(table, 0) == 0 && lines[i].at(1) == row && lines[i].at(2) == quantity)
      return csv_row(lines, i);
  return {};
}

TEST(ArticleCsv, IsOneTableWithALineForEachCell) {
  std::vector<json> records = {record_of("disk", with(kOne, {{"load", 101}})),
                               record_of("tmpfs", kOne),
                               record_of("o2", with(kOne, {{"backward", 10}})),
                               failed(record_of("o3", kOne), "DIVERGED", "loss is not finite"),
                               record_of("0", kOne),
                               record_of("7", kOne),
                               record_of("16", kOne),
                               record_of("17", kOne)};
  const Summary summary = summarise(typed(records)).at(0);
  const std::string csv = csv_text(article_tables(summary));
  const auto lines = csv_lines(csv);
  ASSERT_GT(lines.size(), 100u);
  EXPECT_EQ(lines[0], (std::vector<std::string>{"table", "row", "quantity", "unit", "value", "low", "high",
                                                "article", "text"}));
  std::set<std::string> keys;
  for (const auto& line : lines) {
    ASSERT_EQ(line.size(), 9u) << fmt::format("{}", fmt::join(line, "|"));
    EXPECT_TRUE(keys.insert(line[0] + "|" + line[1] + "|" + line[2]).second)
        << "one line a cell: " << line[0] << " " << line[1] << " " << line[2];
    for (size_t i = 4; &line != &lines[0] && i < 8; ++i)
      EXPECT_EQ(line[i].find_first_not_of("0123456789.e+-"), std::string::npos) << line[i];
  }
  const std::string of_five = csv_text(tables_of(five_runs(records)));
  const auto expect = [](const std::string& in, const std::string& table, const std::string& row,
                         const std::string& quantity, const std::map<std::string, std::string>& cells) {
    auto line = line_of(in, table, row, quantity);
    for (const auto& [column, text] : cells) EXPECT_EQ(line[column], text) << quantity << " of " << row;
  };
  const std::string speed = "Table 3: precision, speed";
  expect(of_five, speed, "o2", "base / row",
         {{"unit", "ratio"}, {"value", "1.4"}, {"low", "1.31923"}, {"high", "1.48571"}});
  EXPECT_EQ(line_of(of_five, speed, "o2", "base / row")["article"].substr(0, 4), "1.25");
  expect(of_five, speed, "o2", "against the article", {{"text", "reproduced"}});
  expect(csv, speed, "o2", "against the article", {{"text", "too few runs"}});
  expect(csv, speed, "tmpfs", "total", {{"unit", "s"}, {"value", "2.1"}, {"low", ""}, {"article", "87.989"}});
  expect(csv, speed, "o3", "status", {{"text", "DIVERGED"}});
  expect(csv, speed, "o3", "total", {{"value", ""}});
  expect(csv, speed, "o1", "status", {{"text", "not run"}});
  expect(csv, "Table 1: a batch", "disk", "h2d", {{"unit", "ms"}, {"value", "0.5"}, {"article", "13.6"}});
  EXPECT_EQ(line_of(csv, "Table 1: a batch", "tmpfs", "h2d, base / row")["article"].substr(0, 4), "0.88");
  expect(csv, "Table 1: platform", "disk", "model", {{"unit", "text"}});
  expect(csv, "Table 4", "7", "devices", {{"value", "4"}});
  expect(csv, "Table 4", "0", "against the article", {{"value", ""}});  // its base is in no table
  expect(csv, "Table 9", "17", "link_rate_mbit", {{"unit", "Mbit/s"}});
}

TEST(ArticleCsv, AReportsFileIsReadAsOneTableByAnotherProgram) {
  const TemporaryFolder folder;
  std::vector<json> records = golden("matrix.jsonl");
  const size_t of_one_scale = records.size();
  for (size_t i = 0; i < of_one_scale; ++i) {
    records.push_back(records[i]);
    records.back()["scale"]["name"] = "smoke";
  }
  std::ostringstream console;
  ASSERT_TRUE(write_report(folder, summarise(typed(records)), console));
  std::ifstream file(folder / "article.csv", std::ios::binary);
  const std::string csv{std::istreambuf_iterator<char>(file), {}};
  const auto lines = csv_lines(csv);
  std::set<std::string> keys;
  for (const auto& line : lines) {
    ASSERT_EQ(line.size(), 9u);
    EXPECT_TRUE(keys.insert(line[0] + "|" + line[1] + "|" + line[2]).second)
        << "each scale has tables of its own: " << line[0] << " " << line[1] << " " << line[2];
  }
  EXPECT_EQ(line_of(csv, "the article's 17 claims (smoke", "14", "claim")["text"],
            "O2 on top of DDP is faster still");
  const std::string python = SOURCE_DIR "/.venv/bin/python";
  if (!std::filesystem::exists(python) ||
      std::system((python + " -c 'import pyarrow.csv' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no pyarrow in .venv: read by this test alone";
  const std::string read =
      "import sys, pyarrow.csv as c; t = c.read_csv(sys.argv[1]); print(','.join(t.column_names), "
      "t.num_rows, t.schema.field('article').type)";
  EXPECT_EQ(base::run_to_end({{python, "-c", read, folder / "article.csv"}, {}, {}, {}, {}}).output,
            fmt::format("table,row,quantity,unit,value,low,high,article,text {} double\n", lines.size() - 1));
}

}  // namespace harness::article_csv_test
