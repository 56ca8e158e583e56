// unit: accuracy by precision from records: spread over seeds, pairs, rows without figures, separate tables
#include <gtest/gtest.h>

#include "harness/report/summary/summary.h"
#include "harness/report/table.h"
#include "harness/stats/records.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace accuracy_test {

using harness::AccuracyRow;
using nlohmann::json;

json trained(const std::string& precision, int64_t seed, double top1, const std::string& kind = "synthetic") {
  json record = {{"row", "accuracy-" + precision},
                 {"repeat", seed - 1},
                 {"config",
                  {{"id", "accuracy-" + precision},
                   {"title", precision},
                   {"precision", precision},
                   {"validation", true},
                   {"batch", 32},
                   {"warmup_batches", 0},
                   {"timed_batches", 700},
                   {"seed", seed}}},
                 {"scale", {{"name", "rehearsal"}, {"summary", "small"}}},
                 {"data", {{"kind", kind == "real" ? "folder" : "stand-in"}, {"fingerprint", "of accuracy"}}},
                 {"precision", {{"label", precision == "o0" ? "O0" : precision + " in bf16"}}},
                 {"timed_batches", 700},
                 {"total_s", 20.0 + double(seed)}};
  record["accuracy"] = {{"top1", top1},  {"top5", 0.9},  {"images", 2704},
                        {"classes", 40}, {"kind", kind}, {"train_images", 5408}};
  return record;
}

json failed(json record, const std::string& status, const std::string& reason) {
  record["status"] = status;
  record["reason"] = reason;
  record.erase("accuracy");
  record.erase("total_s");
  return record;
}

std::vector<AccuracyRow> rows_of(const std::vector<json>& records) {
  harness::RecordList pointers;
  for (const harness::Record& record : typed(records)) pointers.push_back(&record);
  return harness::accuracy_rows(pointers);
}

std::string table_of(const std::vector<json>& records) {
  return harness::markdown_text(harness::accuracy_grid(harness::summarise(typed(records))[0]));
}

TEST(Accuracy, MediansAndRangesAreOverSeeds) {
  const auto rows = rows_of({trained("o0", 1, 0.70), trained("o0", 2, 0.80), trained("o0", 3, 0.74)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].seeds, 3);
  EXPECT_DOUBLE_EQ(rows[0].top1.median, 0.74);
  EXPECT_DOUBLE_EQ(rows[0].top1.low, 0.70);
  EXPECT_DOUBLE_EQ(rows[0].top1.high, 0.80);
  EXPECT_DOUBLE_EQ(rows[0].seconds, 22);
  EXPECT_EQ(rows[0].budget_images, 22400);
  EXPECT_EQ(rows[0].validation_images, 2704);
  EXPECT_EQ(rows[0].classes, 40);
  EXPECT_EQ(rows[0].kind, "synthetic");
}

TEST(Accuracy, DifferencesAreBetweenRunsOfOneSeed) {
  // Medians are equal; every seed is two points worse.
  const auto rows = rows_of({trained("o0", 1, 0.70), trained("o0", 2, 0.72), trained("o0", 3, 0.74),
                             trained("o2", 2, 0.70), trained("o2", 3, 0.72), trained("o2", 4, 0.72)});
  EXPECT_EQ(rows[1].paired_seeds, 2);
  EXPECT_NEAR(rows[1].less_o0.median, -0.02, 1e-12);
  EXPECT_NEAR(rows[1].less_o0.low, -0.02, 1e-12);
  EXPECT_NEAR(rows[1].less_o0.high, -0.02, 1e-12);
  EXPECT_EQ(rows[0].paired_seeds, 0) << "o0 is not compared with itself";
}

TEST(Accuracy, OtherBudgetsAndOtherImagesAreNotCompared) {
  auto other_budget = trained("o2", 1, 0.7);
  other_budget["config"]["timed_batches"] = 350;
  EXPECT_EQ(rows_of({trained("o0", 1, 0.7), other_budget})[1].paired_seeds, 0);
  EXPECT_EQ(rows_of({trained("o0", 1, 0.7), trained("o2", 1, 0.7, "real")})[1].paired_seeds, 0);
}

TEST(Accuracy, ARowThatDivergedWithOneSeedHasNoFigure) {
  const auto rows =
      rows_of({trained("o3", 1, 0.7), failed(trained("o3", 2, 0), "DIVERGED", "loss: not finite in batch 4"),
               trained("o3", 3, 0.7)});
  EXPECT_EQ(rows[0].status, "DIVERGED");
  EXPECT_EQ(rows[0].diverged, 1);
  EXPECT_EQ(rows[0].reason, "1 of 3 seeds; loss: not finite in batch 4");
  EXPECT_EQ(rows[0].seeds, 0);
  EXPECT_EQ(rows[0].top1.median, 0);
}

TEST(Accuracy, OtherFailuresCostOneSeedOrTheRow) {
  const json crashed = failed(trained("o1", 2, 0), "CRASHED", "signal 9");
  EXPECT_EQ(rows_of({trained("o1", 1, 0.7), crashed})[0].seeds, 1);
  const auto rows = rows_of({crashed});
  EXPECT_EQ(rows[0].status, "CRASHED");
  EXPECT_EQ(rows[0].reason, "signal 9");
  json old = trained("o1", 1, 0.7);
  old.erase("accuracy");
  EXPECT_EQ(rows_of({old})[0].status, "INVALID") << "a record without the key";
}

TEST(Accuracy, StaysApartFromTheRowsThatAreTimed) {
  json timed = trained("o0", 1, 0.7);
  timed["row"] = "tmpfs";
  timed["config"]["validation"] = false;
  timed["config"]["id"] = "tmpfs";
  timed["data"]["fingerprint"] = "of timing";
  timed["samples_ms"] = {{"load", {std::vector<double>(700, 1)}}};
  timed.erase("accuracy");
  const std::vector<json> records = {timed, trained("o0", 1, 0.7)};
  const auto summaries = harness::summarise(typed(records));
  ASSERT_EQ(summaries.size(), 1u);
  ASSERT_EQ(summaries[0].rows.size(), 1u);
  EXPECT_EQ(summaries[0].rows[0].id, "tmpfs");
  ASSERT_EQ(summaries[0].accuracy.size(), 1u);
  EXPECT_EQ(summaries[0].data.find("differs"), std::string::npos) << summaries[0].data;
}

TEST(Accuracy, AloneInARunItStillHasItsTable) {
  const std::vector<json> records = {trained("o0", 1, 0.7)};
  const auto summaries = harness::summarise(typed(records));
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_TRUE(summaries[0].rows.empty());
  EXPECT_FALSE(harness::accuracy_grid(summaries[0]).empty());
  EXPECT_SAYS(harness::console_table(summaries[0]), "of accuracy") << "no word on the data";
}

TEST(Accuracy, SyntheticClassesAreCalledNoEvidence) {
  const std::string text = table_of({trained("o0", 1, 0.7), trained("o2", 1, 0.65)});
  EXPECT_SAYS(text, "synthetic classes: no evidence for claim 4");
  EXPECT_SAYS(text, "-5.0 points from O0 with one seed");
  EXPECT_EQ(table_of({trained("o0", 1, 0.7, "real")}).find("no evidence"), std::string::npos);
}

TEST(Accuracy, ADifferenceIsNamedOnlyWhenEverySeedHasIt) {
  const std::string text = table_of({trained("o0", 1, 0.70), trained("o0", 2, 0.72), trained("o1", 1, 0.71),
                                     trained("o1", 2, 0.70), trained("o3", 1, 0.60), trained("o3", 2, 0.65)});
  EXPECT_SAYS(text, "o1 in bf16: -0.5 (-2.0 to +1.0) points from O0 over 2 seeds: not more than");
  EXPECT_SAYS(text,
              "o3 in bf16: -8.5 (-10.0 to -7.0) points from O0 over 2 seeds: worse with every seed, "
              "which happens by chance in 1 of 2 ");
}

}  // namespace accuracy_test
