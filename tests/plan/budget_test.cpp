// unit: the rows that a budget chooses from a plan.
#include <gtest/gtest.h>

#include "harness/plan/schedule.h"
#include "tests/support/article_rows.h"

namespace harness::budget_test {

// Precision, devices and storage of three rows each; only `disk` has a figure of the article's.
std::vector<PlannedRow> plan() {
  const auto row = [](const std::string& id, const std::string& base) {
    PlannedRow planned;
    planned.row.id = id;
    planned.row.base = base;
    return planned;
  };
  std::vector<PlannedRow> rows = {row("disk", ""),    row("o1", "disk"),  row("o2", "disk"),
                                  row("two", "one"),  row("four", "one"), row("one", ""),
                                  row("lmdb", "disk")};
  rows[0].row.published_s = 300;
  rows[1].row.precision = "o1";
  rows[2].row.precision = "o2";
  rows[3].row.devices = 2;
  rows[4].row.devices = 4;
  rows[6].row.storage = "lmdb";
  return rows;
}

std::string chosen(double budget_s, std::vector<double> seconds = std::vector<double>(7, 10)) {
  std::string ids;
  const Choice choice = choose_rows(plan(), seconds, budget_s);
  for (size_t i = 0; i < choice.chosen.size(); ++i)
    if (choice.chosen[i]) ids += plan()[i].row.id + " ";
  return ids;
}

TEST(Budget, TakesTheStatedRowThenOneOfEachAxis) {
  EXPECT_EQ(chosen(10), "disk ");
  EXPECT_EQ(chosen(20), "disk o1 ") << "precision has no row yet";
  EXPECT_EQ(chosen(40), "disk o1 two one ") << "devices, with the base";
  EXPECT_EQ(chosen(50), "disk o1 two one lmdb ") << "then storage";
  EXPECT_EQ(chosen(70), "disk o1 o2 two four one lmdb ");
}

TEST(Budget, ARowComesWithItsBaseOrNotAtAll) {
  const Choice choice = choose_rows(plan(), {10, 10, 10, 10, 10, 100, 10}, 60);
  for (size_t row : {3u, 4u, 5u}) EXPECT_FALSE(choice.chosen[row]) << plan()[row].row.id;
  EXPECT_DOUBLE_EQ(choice.seconds, 40);
  ASSERT_EQ(choice.left_out.size(), 3u);
  EXPECT_EQ(choice.left_out[0].row, "two");
  EXPECT_EQ(choice.left_out[0].reason, "needs 2 min with its base one, 20 s of the budget left");
  EXPECT_EQ(describe(choice.left_out).substr(0, 25), "  two            left out");
}

TEST(Budget, WhatDoesNotFitMakesRoomForWhatDoes) {
  EXPECT_EQ(chosen(20, {10, 50, 10, 10, 10, 10, 10}), "disk o2 ");
}

TEST(Budget, RowsThatAreDoneOrSkippedAreFree) {
  EXPECT_EQ(chosen(20, {0, 10, 10, 10, 10, 0, 10}), "disk o1 two one ") << "their bases are there already";
  EXPECT_EQ(chosen(20, {0, 0, 10, 10, 10, 10, 10}), "disk o1 two one ") << "precision has a row already";
  EXPECT_EQ(chosen(1), "") << "not one fits";
}

TEST(Budget, BasesInACircleEnd) {
  std::vector<PlannedRow> rows = plan();
  rows[0].row.base = "o1";
  EXPECT_EQ(choose_rows(rows, std::vector<double>(7, 10), 15).chosen,
            std::vector<bool>({0, 0, 0, 0, 0, 1, 0}));
}

TEST(Budget, OfTheArticlesRowsTheStatedOnesComeFirst) {
  std::vector<PlannedRow> rows;
  for (const Row& row : article().rows) rows.push_back({row, "", {}});
  const Choice choice = choose_rows(rows, std::vector<double>(rows.size(), 20), 200);
  std::string ids;
  for (size_t i = 0; i < rows.size(); ++i)
    if (choice.chosen[i]) ids += rows[i].row.id + " ";
  size_t stated = 0;
  for (size_t i = 0; i < rows.size(); ++i) stated += choice.chosen[i] && rows[i].row.published_s > 0;
  EXPECT_GE(stated, 7u) << ids;
  EXPECT_LE(choice.seconds, 200);
}

}  // namespace harness::budget_test
