// unit: rows that run again while there is time: disturbed ones first, then repeats in rounds.
#include "harness/plan/repeats.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/stats/records.h"
#include "tests/support/typed_records.h"

namespace harness::repeats_test {

using nlohmann::json;

Record taken(const std::string& row, double share, int64_t repeat = 0) {
  return typed(json{{"row", row},
                    {"repeat", repeat},
                    {"total_s", 10.0},
                    {"environment", {{"window_steal_share", share}, {"window_outside_share", 0.0}}}});
}

std::vector<PlannedRow> plan_of(const std::vector<std::string>& ids) {
  std::vector<PlannedRow> plan;
  for (const std::string& id : ids) plan.push_back({}), plan.back().row.id = id;
  return plan;
}

const auto ten_seconds = [](size_t) { return 10.0; };
const RepeatRules rules = {
    .most_attempts = 3, .most_runs = 5, .repeated = {0, 2}, .first = {}, .limit_s = 600};

// Does what next_run() says, `share` of each new run given, until nothing is left.
std::vector<std::string> all_again(const std::vector<PlannedRow>& plan, Records records, RepeatRules with,
                                   double elapsed_s = 0) {
  std::vector<std::string> order;
  Attempts attempts;
  while (const auto next = next_run(plan, records, attempts, with, elapsed_s, ten_seconds)) {
    const std::string id = plan[next->run.row].row.id;
    elapsed_s += 10;
    order.push_back(id + (next->attempt ? " attempt" : " repeat ") +
                    (next->attempt ? "" : std::to_string(next->run.repeat)));
    if (next->attempt) {
      int64_t& made = attempts[{id, next->run.repeat}];
      made = std::max<int64_t>(made, 1) + 1;
    } else {
      records.push_back(taken(id, 0, next->run.repeat));
    }
    if (order.size() > 100) break;
  }
  return order;
}

TEST(Repeats, RepeatedRowsRunInRoundsOfRandomOrderUpToFiveTimes) {
  std::vector<std::string> ids;
  Records records;
  RepeatRules all = rules;
  all.repeated.clear();
  for (int row = 0; row < 8; ++row) {
    ids.push_back(std::string(1, char('a' + row)));
    records.push_back(taken(ids.back(), 0));
    if (row != 1) all.repeated.push_back(size_t(row));
  }
  const auto order = all_again(plan_of(ids), records, all);
  ASSERT_EQ(order.size(), 4 * 7u);
  std::set<std::string> orders;
  for (size_t round = 0; round < 4; ++round) {
    std::string rows;
    for (size_t i = 0; i < 7; ++i) {
      const std::string& run = order[round * 7 + i];
      EXPECT_EQ(run.substr(1), " repeat " + std::to_string(round + 1));
      rows += run[0];
    }
    orders.insert(rows);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, "acdefgh") << "each row once a round";
  }
  EXPECT_GT(orders.size(), 2u) << "another order in each round";
  EXPECT_EQ(order, all_again(plan_of(ids), records, all)) << "which the seed decides";
}

TEST(Repeats, OnceEachRanTwiceTheRowsThatAreAskedForRunFirst) {
  RepeatRules with = rules;
  with.most_runs = 4;
  with.first = {"7"};
  const auto order = all_again(plan_of({"tmpfs", "1", "7"}), {taken("tmpfs", 0), taken("7", 0)}, with);
  ASSERT_EQ(order.size(), 6u);
  EXPECT_EQ(std::set<std::string>(order.begin(), order.begin() + 2),
            (std::set<std::string>{"tmpfs repeat 1", "7 repeat 1"}));
  EXPECT_EQ((std::vector<std::string>(order.begin() + 2, order.end())),
            (std::vector<std::string>{"7 repeat 2", "7 repeat 3", "tmpfs repeat 2", "tmpfs repeat 3"}));
}

TEST(Repeats, NothingBeginsThatWouldEndAfterTheLimit) {
  const auto plan = plan_of({"tmpfs", "1", "7"});
  const Records records = {taken("tmpfs", 0), taken("1", 0.5), taken("7", 0)};
  EXPECT_EQ(all_again(plan, records, rules, 575).size(), 2u);
  EXPECT_EQ(all_again(plan, records, rules, 591).size(), 0u);
  RepeatRules off = rules;
  off.limit_s = 0;
  EXPECT_TRUE(all_again(plan, records, off).empty());
}

TEST(Repeats, DisturbedRowsComeFirstTheWorstOfThemFirstTwiceEach) {
  RepeatRules no_rounds = rules;
  no_rounds.repeated = {};
  const auto order =
      all_again(plan_of({"a", "b", "c"}), {taken("a", 0.03), taken("b", 0.019), taken("c", 0.3)}, no_rounds);
  EXPECT_EQ(order, (std::vector<std::string>{"c attempt", "a attempt", "c attempt", "a attempt"}));
}

TEST(Repeats, FailedAndSkippedRowsAndAccuraciesAreLeftAlone) {
  auto plan = plan_of({"failed", "accuracy", "skipped"});
  plan[1].row.validation = true;
  plan[2].skip_reason = "no GPU";
  Record failed = taken("failed", 0.5);
  failed.status = "CRASHED";
  EXPECT_TRUE(all_again(plan, {failed, taken("accuracy", 0.5)}, rules).empty());
}

TEST(Repeats, TheLeastDisturbedAttemptCountsWhateverItsSpeed) {
  Record first = taken("a", 0.2), slower = taken("a", 0.05), worse = taken("a", 0.3);
  slower.total_s = 99;
  EXPECT_EQ(attempt_after(first, slower, 2).counts, 2);
  slower.attempt = {2, 2};
  EXPECT_TRUE(replaces_earlier(slower));
  worse.total_s = 1;
  worse.attempt = attempt_after(slower, worse, 3);
  EXPECT_EQ(worse.attempt->counts, 2);
  EXPECT_FALSE(replaces_earlier(worse));
  Record failed = first;
  failed.status = "INVALID";
  EXPECT_EQ(attempt_after(slower, failed, 3).counts, 3) << "a failure isn't hidden";
  EXPECT_EQ(attempt_after(first, taken("a", 0.2), 2).counts, 1) << "of equal ones the first";
}

TEST(Repeats, TheRulesAreSaidBeforeTheRun) {
  EXPECT_EQ(
      describe(rules, plan_of({"tmpfs", "1", "7"})),
      "until 10 min after the start (--repeat-within): tmpfs, 7 again, up to 5 runs each; rows that are "
      "disturbed, up to 3 times in all\n");
  EXPECT_EQ(describe(RepeatRules{}, {}), "");
}

}  // namespace harness::repeats_test
