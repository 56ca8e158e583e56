// unit: tables that a matrix describes: columns by name, ratios, notes, and names that do not exist
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/article_records.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::matrix_tables_test {

using namespace article_records;

const std::string kRows =
    "rows:\n"
    "  slow: {title: as it is, identity: stated, published_s: 200, published_ms: forward=10}\n"
    "  fast: {like: slow, title: twice the threads, identity: stated, base: slow, loader_threads: 2 C0,\n"
    "         published_s: 100, published_ms: forward=5, inferred: [loader_threads]}\n"
    "  same: {like: slow, title: the same again, identity: weakly inferred, base: slow}\n";

// A table of rows and columns, with further keys.
std::string table_of(const std::string& columns, const std::string& more = "") {
  return kRows + "tables:\n  a table:\n    rows: [slow, fast, same]\n    columns: {" + columns + "}\n" + more;
}

std::vector<Grid> grids(const std::string& matrix_text, std::vector<json> records = {}) {
  const TemporaryFolder folder;
  std::ofstream(folder / "matrix.yaml") << matrix_text;
  const Matrix matrix = load_matrix(folder / "matrix.yaml", find_scale(scales(), "rehearsal"), values());
  if (records.empty())
    for (const Row& row : matrix.rows)
      if (row.id != "same")
        records.push_back(record_of(
            row, with(kOne, {{"forward", row.id == "fast" ? 5 : 10}, {"scatter", 1}, {"gather", 2}})));
  return grids_of(summarise(typed(five_runs(records))).at(0), matrix.tables);
}

std::string text_of_first(const std::string& matrix_text) { return console_text(grids(matrix_text).at(0)); }

std::string refused(const std::string& matrix_text) {
  return refusal([&] { grids(matrix_text); });
}

TEST(MatrixTables, HaveColumnsByTheNamesOfFieldsPhasesAndMetrics) {
  const Grid grid =
      grids(table_of("threads: loader_threads in C0, batch: batch, cache: cache, s: total, fwd: forward, "
                     "peer: [scatter, gather], skew: {of: skew_ms, optional: true}, "
                     "img/s: images_per_second"))
          .at(0);
  EXPECT_EQ(grid.title, "a table");
  std::vector<std::string> headers;
  for (const GridColumn& column : grid.columns) headers.push_back(column.header);
  EXPECT_EQ(headers,
            (std::vector<std::string>{"row", "threads", "batch", "cache", "s", "fwd", "peer", "img/s",
                                      "base / row", "base", "article", "against the article"}))
      << "without several ranks there is no skew";
  ASSERT_EQ(grid.rows.size(), 3u);
  EXPECT_EQ(grid.rows[1],
            (std::vector<std::string>{"fast", "8 = 2 C0~", "16", "warm", "1.98", "5.00", "3.00", "484.8",
                                      "1.15 (1.09 to 1.22)", "slow", "2.00", "same direction"}));
  EXPECT_EQ(grid.rows[2][4], "not run");
  EXPECT_EQ(grid.rows[2][1], "-");
}

TEST(MatrixTables, RowsCanStandSideBySideWithTheArticlesFigures) {
  const Grid grid =
      grids(table_of("total s: total, fwd: forward, bwd: backward, wait: sync", "    layout: columns\n"))
          .at(0);
  std::vector<std::string> headers;
  for (const GridColumn& column : grid.columns) headers.push_back(column.header);
  EXPECT_EQ(headers, (std::vector<std::string>{"", "slow", "article", "fast", "article", "same",
                                               "slow / fast", "article", "against the article"}));
  ASSERT_EQ(grid.rows.size(), 3u) << "nothing waited";
  EXPECT_EQ(grid.rows[1], (std::vector<std::string>{"fwd", "10.0", "10.0", "5.00", "5.00", "-",
                                                    "2.00 (1.88 to 2.12)", "2.00", "reproduced"}));
  EXPECT_EQ(grid.rows[2][7], "-") << "the article states no time of backward";
  bool found = false;
  for (const GridValue& value : grid.values)
    if (value.row == "fast" && value.quantity == "forward, base / row") {
      EXPECT_EQ(value.figure.article, 2);
      EXPECT_NEAR(*value.figure.value, 2, 1e-9);
      found = true;
    }
  EXPECT_TRUE(found);
}

TEST(MatrixTables, NotesAreTextsOrComputed) {
  const std::string text = text_of_first(table_of(
      "s: total",
      "    notes:\n      - a word about it\n      - {of: ratio, rows: [slow, fast], text: as said}\n"));
  EXPECT_SAYS(text, "a word about it");
  EXPECT_SAYS(text, "slow / fast here: 1.15 (1.09 to 1.22), 2.00 in the article; as said");
  EXPECT_EQ(
      text_of_first(table_of("s: total", "    notes: [{of: ratio, rows: [slow, same]}]\n")).find(" here:"),
      std::string::npos)
      << "a row that was not run has no ratio";
}

TEST(MatrixTables, ATableAboutRowsThatWereNotRunIsLeftOut) {
  EXPECT_TRUE(grids(table_of("s: total", "    about: same\n")).empty());
  EXPECT_EQ(grids(table_of("s: total", "    about: [same, fast]\n")).size(), 1u);
  EXPECT_TRUE(grids(kRows).empty());
}

TEST(MatrixTables, EqualRowsAreTestedForEquality) {
  EXPECT_EQ(grids(table_of("s: total", "    equal: fast\n")).at(0).rows[1].back(), "differs");
}

TEST(MatrixTables, UnknownNamesAreRefusedWithTheirPlaceAndTheNearestOne) {
  const auto expect = [](const std::string& columns, const std::string& error) {
    const std::string found = refused(table_of("\n      s: total,\n      " + columns));
    EXPECT_SAYS(found, "matrix.yaml:11: " + error);
  };
  expect("a: skew_mss",
         "unknown figure in column 'a'; expected a phase, a field or a metric; found 'skew_mss'; did "
         "you mean 'skew_ms'?");
  expect("a: fowrard",
         "unknown figure in column 'a'; expected a phase, a field or a metric; found 'fowrard'; did you "
         "mean 'forward'?");
  expect("a: loader_thread",
         "unknown figure in column 'a'; expected a phase, a field or a metric; found "
         "'loader_thread'; did you mean 'loader_threads'?");
  expect("a: precision in C0", "unknown figure");
  expect("a: forward on the moon", "unknown figure");
  expect("a: the colour of the machine",
         "unknown figure in column 'a'; expected a phase, a field or a metric; found "
         "'the colour of the machine'; see `./run_matrix list --metrics`");
  expect("a: {of: skew_ms, unit: s}", "unknown unit in column 'a'; expected ms; found 's'");
  expect("a: {of: all_reduced_bytes_per_batch, unit: GB}",
         "unknown unit in column 'a'; expected bytes or MB; found 'GB'");
  EXPECT_SAYS(refused(table_of("s: total", "    notes:\n      - {of: ration, rows: [slow, fast]}\n")),
              "matrix.yaml:11: unknown note; found 'ration'; did you mean 'ratio'?");
  EXPECT_SAYS(refused(table_of("s: total", "    notes:\n      - {of: ratio, rows: [slow]}\n")),
              "matrix.yaml:11: a ratio is of two rows");
}

TEST(MatrixTables, TheArticlesAreReadFromItsFile) {
  const Matrix matrix = article();
  EXPECT_EQ(matrix.tables.size(), 12u);
  EXPECT_EQ(grids_of(summarise(typed(golden("matrix.jsonl"))).at(0), matrix.tables).size(),
            article_tables(summarise(typed(golden("matrix.jsonl"))).at(0)).size());
}

}  // namespace harness::matrix_tables_test
