// unit: rows whose fields are lists stand for one row per combination
#include "harness/config/row_lists.h"

#include <gtest/gtest.h>

#include <fstream>

#include "harness/plan/plan.h"
#include "tests/support/article_rows.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::row_lists_test {

Matrix matrix_of(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "lists.yaml") << text;
  return load_matrix(folder / "lists.yaml", find_scale(scales(), "smoke"), values());
}

TEST(RowLists, MakeARowPerCombinationInTheOrderOfTheFile) {
  const Matrix matrix = matrix_of(
      "rows:\n"
      "  plain: {batch: 64}\n"
      "  grid:\n"
      "    title: a grid\n"
      "    batch: [64, 128]\n"
      "    loader_threads: [1 C0, 2 C0, 0]\n");
  std::vector<std::string> ids;
  for (const Row& row : matrix.rows) ids.push_back(row.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"plain", "grid-64-1C0", "grid-64-2C0", "grid-64-0", "grid-128-1C0",
                                           "grid-128-2C0", "grid-128-0"}));
  const Row& last = matrix.rows.back();
  EXPECT_EQ(last.batch, 8) << "as the scale divides it";
  EXPECT_EQ(last.loader_threads, 0);
  EXPECT_EQ(last.title, "a grid: batch 128, loader_threads 0");
  EXPECT_EQ(last.base, "grid-64-1C0") << "the first combination";
  EXPECT_EQ(matrix.rows[1].base, "");
}

TEST(RowLists, ZippedListsVaryTogether) {
  const Matrix matrix = matrix_of(
      "rows:\n"
      "  up: {batch: 64, zip: {devices: [1, 2, 4], strategy: [single, data_parallel, data_parallel]}, "
      "precision: [o0, o1]}\n");
  ASSERT_EQ(matrix.rows.size(), 6u);
  EXPECT_EQ(matrix.rows[0].id, "up-1-single-o0");
  EXPECT_EQ(matrix.rows[5].id, "up-4-data_parallel-o1");
  EXPECT_EQ(matrix.rows[5].devices, 4);
  EXPECT_EQ(matrix.rows[5].precision, "o1");
}

TEST(RowLists, SkippedCombinationsAreListedWithTheirReasonAndNeverChecked) {
  const Matrix matrix = matrix_of(
      "rows:\n"
      "  pair: {batch: 64, strategy: [single, data_parallel], devices: [1, 2],\n"
      "         skip: [{strategy: single, devices: 2, reason: one device only}]}\n");
  ASSERT_EQ(matrix.rows.size(), 4u);
  EXPECT_EQ(matrix.rows[1].id, "pair-single-2");
  EXPECT_EQ(matrix.rows[1].skip, "one device only");
  const auto plan = make_plan(
      matrix.rows, values(), Request(), [](const Row&) { return ""; }, 2);
  EXPECT_EQ(plan[1].skip_reason, "one device only");
  EXPECT_EQ(plan[0].skip_reason, "");
}

std::string error_of(const std::string& text) {
  return refusal([&] { matrix_of(text); });
}

TEST(RowLists, FaultsNameTheLine) {
  const auto expect = [](const std::string& row, const std::string& part) {
    const std::string error = error_of("rows:\n  a: {batch: 64, " + row + "}\n");
    EXPECT_SAYS(error, "lists.yaml:2: ");
    EXPECT_SAYS(error, part);
  };
  expect("precision: []", "is empty");
  expect("precision: [o0, o1], zip: {precision: [o0, o1]}", "row 'a' names a field twice");
  expect("zip: {batch: [64, 32]}", "names a field twice");
  expect("precision: [o0, o1], as_run: {precision: o0}", "names a field twice");
  expect("zip: {devices: [1, 1], width: [8, 16]}, as_run: {width: 8}", "names a field twice");
  expect("precision: [[o0]]", "wrong type of 'precision'");
  expect("zip: {devices: [1, 2], strategy: [single]}", "vary together");
  expect("zip: {devices: 1}", "a list of values");
  expect("zip: {}", "zip");
  expect("precision: [o0, o9]", "unknown value of 'precision'");
  expect("link_rate_mbit: [1, 1]", "the same id");
  expect("precision: [o0, o1], skip: [{precision: o2, reason: no}]", "doesn't exist");
  expect("precision: [o0, o1], skip: [{precision: o1}]", "reason");
  expect("like: [b, c]", "wrong type of 'like'");
}

TEST(RowLists, TooManyRowsAreRefused) {
  std::string many = "[0";
  for (int i = 1; i < 40; ++i) many += ", " + std::to_string(i);
  many += "]";
  EXPECT_SAYS(error_of("rows:\n  a: {batch: 64, seed: " + many + ", loader_threads: " + many + "}\n"),
              "too many rows");
}

}  // namespace harness::row_lists_test
