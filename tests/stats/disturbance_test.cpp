// unit: seconds without the processor time that others took: which rows, from when on, and what is shown of
// it
#include "harness/stats/disturbance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/compare/comparison.h"
#include "harness/report/summary/ratio.h"
#include "harness/report/table.h"
#include "tests/support/claim_records.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::disturbance_test {

using nlohmann::json;

json run(double seconds, double taken, int repeat = 0, const std::string& row = "tmpfs") {
  return {{"row", row},
          {"repeat", repeat},
          {"total_s", seconds},
          {"timed_batches", 10},
          {"config", {{"batch", 32}}},
          {"environment", {{"window_steal_share", taken / 2}, {"window_outside_share", taken / 2}}}};
}

// Nine runs of 10 s each, lengthened by what others took of them; the truth is `seconds`.
std::vector<json> disturbed_runs(double seconds, double phase) {
  std::vector<json> records;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const double taken = 0.2 + 0.15 * std::sin(phase + 2.0 * repeat);
    records.push_back(run(seconds * (1 + 0.002 * (repeat % 3)) / (1 - taken), taken, repeat));
  }
  return records;
}

TEST(Disturbance, OldRecordsHaveTheStolenShareOfTheWholeRow) {
  json record = run(10, 0.2);
  EXPECT_DOUBLE_EQ(*others_share(typed(record)), 0.2);
  record["environment"] = {{"steal_share", 0.07}};
  EXPECT_DOUBLE_EQ(*others_share(typed(record)), 0.07);
  EXPECT_NEAR(undisturbed_s(typed(record)), 9.3, 1e-9);
  record.erase("environment");
  EXPECT_FALSE(others_share(typed(record)));
  EXPECT_DOUBLE_EQ(undisturbed_s(typed(record)), 10);
}

TEST(Disturbance, OnlyProcessorBoundRowsAreCorrected) {
  const json plain = run(10, 0.2);
  EXPECT_TRUE(is_processor_bound(typed(plain)));
  json busy = plain;
  busy["emulated"] = {"host_work: 6 ms a batch"};
  EXPECT_TRUE(is_processor_bound(typed(busy)));
  for (const auto& [pointer, value] : std::map<std::string, json>{{"/cache/state", "cold"},
                                                                  {"/device/kind", "cuda"},
                                                                  {"/config/read_rate", 100},
                                                                  {"/config/store_latency_ms", 2},
                                                                  {"/emulated", {"link: veth: ethernet"}}}) {
    json waits = plain;
    waits[json::json_pointer(pointer)] = value;
    EXPECT_FALSE(is_processor_bound(typed(waits))) << pointer;
    const Records one = {typed(plain), typed(waits)};
    EXPECT_FALSE(ComparedSeconds({&one[0]}, {&one[1]}).undisturbed()) << pointer;
  }
}

TEST(Disturbance, AChangedClockDisturbsRowsThatComputeAllTheTime) {
  json record = run(10, 0);
  for (const auto& [change, is] : {std::pair(0.04, false), {0.06, true}, {-0.06, true}}) {
    record["environment"]["clock_change"] = change;
    const Record it = typed(record);
    EXPECT_EQ(is_disturbed(it), is) << change;
    EXPECT_EQ(disturbance_text({&it}).empty(), !is);
    EXPECT_DOUBLE_EQ(disturbance_of(it), std::abs(change));
  }
  record["cache"] = {{"state", "cold"}};
  EXPECT_FALSE(is_disturbed(typed(record))) << "idle cores may clock down";
}

TEST(Disturbance, QuietRunsAreComparedAsMeasured) {
  const Records records = {typed(run(10, 0.019)), typed(run(11, 0)), typed(run(12, 0.021))};
  EXPECT_FALSE(ComparedSeconds({&records[0]}, {&records[1]}).undisturbed());
  const ComparedSeconds seconds({&records[0]}, {&records[1], &records[2]});
  EXPECT_TRUE(seconds.undisturbed());
  EXPECT_NEAR(seconds.of({&records[0], &records[1]})[0], 9.81, 1e-9);
  EXPECT_DOUBLE_EQ(seconds.of(records[1]), 11);
}

TEST(Disturbance, CompareFindsWhatOthersHideAndShowsBothFigures) {
  const Comparison slower = compare(typed(disturbed_runs(10, 0)), typed(disturbed_runs(11, 1)), Noise());
  ASSERT_EQ(slower.rows.size(), 1u);
  const RowComparison& row = slower.rows[0];
  EXPECT_EQ(row.verdict, RowVerdict::slower) << row.reason;
  EXPECT_TRUE(row.undisturbed);
  EXPECT_NEAR(row.effect.ratio, 10.0 / 11, 0.005);
  EXPECT_LT(row.as_measured.low, 0.85);
  EXPECT_GT(row.as_measured.high, 1);  // as measured nothing would be decided
  const std::string text = console_text(comparison_grid(slower, "a", "b"));
  EXPECT_SAYS(text, "as measured");
  EXPECT_EQ(compare(typed(disturbed_runs(10, 0)), typed(disturbed_runs(10, 1)), Noise()).rows[0].verdict,
            RowVerdict::same);
}

TEST(Disturbance, RatiosOfATableAreUndisturbed) {
  std::vector<json> records = {run(10, 0), run(12.5, 0.2, 0, "7")};
  records[1]["config"]["base"] = "tmpfs";
  Summary summary = summarise(typed(records)).at(0);
  EXPECT_NEAR(*summary.rows[1].ratio, 1, 1e-9);
  EXPECT_TRUE(summary.rows[1].ratio_undisturbed);
  EXPECT_DOUBLE_EQ(summary.rows[1].total_s, 12.5);  // as measured
  EXPECT_TRUE(total_ratio(summary, summary.rows[0], summary.rows[1]).undisturbed);
  EXPECT_SAYS(console_table(summary), "1.00\" tmpfs");
  EXPECT_SAYS(console_table(summary), "\" of the seconds less the share of processor time that others took");
  records[1]["cache"] = {{"state", "cold"}};
  summary = summarise(typed(records)).at(0);
  EXPECT_NEAR(*summary.rows[1].ratio, 0.8, 1e-9);
  EXPECT_FALSE(summary.rows[1].ratio_undisturbed);
}

TEST(Disturbance, ASpoiledRunThatCannotBeCorrectedDecidesNoClaim) {
  ClaimRecords records;
  records.add("disk", {{"load", 75}, {"forward", 25}});
  ASSERT_EQ(records.verdict(1), ClaimVerdict::holds) << records.reason(1);
  records.set("disk", "/environment", {{"window_steal_share", 0.11}});
  EXPECT_EQ(records.verdict(1), ClaimVerdict::cannot_be_tested);
  EXPECT_SAYS(records.reason(1), "others took up to 11 %");
  records.set("disk", "/environment", {{"window_steal_share", 0.05}});
  EXPECT_EQ(records.verdict(1), ClaimVerdict::holds);
  records.set("disk", "/device/kind", "cpu");
  records.set("disk", "/cache/state", "warm");
  records.set("disk", "/environment", {{"window_steal_share", 0.0}, {"clock_change", -0.11}});
  EXPECT_SAYS(records.reason(1), "clock changed by up to 11 %");
}

}  // namespace harness::disturbance_test
