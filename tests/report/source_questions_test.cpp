// unit: answers to the questions that a matrix's rows ask
#include "harness/report/source_questions.h"

#include <gtest/gtest.h>

#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::source_questions_test {

using nlohmann::json;

// Two ranks, 4 batches: loading and processing as given, one ms of transfer.
json run(const std::string& row, double load_ms, double forward_ms, int repeat) {
  const double step_ms = (load_ms + 1 + forward_ms) * (1 + 0.001 * repeat);
  const auto samples = [](double ms) { return json::array({json(4, ms), json(4, ms)}); };
  json config = {{"batch", 32}, {"strategy", "ddp"}, {"devices", 2}};
  if (row == "many")
    config.update({{"base", "one"},
                   {"question", "Is it faster?"},
                   {"answer", "loading, processing, all_reduced, memory"}});
  return {{"row", row},
          {"repeat", repeat},
          {"timed_batches", 4},
          {"total_s", 4 * step_ms / 1000},
          {"config", config},
          {"samples_ms", {{"load", samples(load_ms)}, {"h2d", samples(1)}, {"forward", samples(forward_ms)}}},
          {"communication", {{"all_reduced_bytes", row == "many" ? 4000 : 64000}}}};
}

std::vector<json> runs(int repeats, double many_ms = 20) {
  std::vector<json> records;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    records.push_back(run("one", 5, 40 + 0.01 * repeat, repeat));
    records.push_back(run("many", 0, many_ms + 0.01 * repeat, repeat));
  }
  return records;
}

std::vector<Answer> answers(const std::vector<json>& records) {
  return answers_of(summarise(typed(records)).at(0));
}

TEST(SourceQuestions, AreAnsweredByTheFiguresThatTheyName) {
  const auto found = answers(runs(5));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].figure, "loading");
  EXPECT_EQ(found[0].of_row, 0.0);
  EXPECT_EQ(found[0].of_base, 5.0);
  EXPECT_FALSE(found[0].ratio.known()) << "nothing has a ratio to 0";
  EXPECT_NEAR(found[1].ratio.value, 0.5, 1e-3) << "processing: forward";
  EXPECT_LT(found[1].ratio.high, 1);
  EXPECT_EQ(found[2].of_row, 1000.0) << "bytes per batch";
  EXPECT_NEAR(found[2].ratio.value, 1.0 / 16, 1e-9);
  EXPECT_FALSE(found[3].of_row) << "the records have no memory figure";
}

TEST(SourceQuestions, VerdictsNeedFiveRuns) {
  const auto last_cell = [](const std::vector<json>& records, size_t line) {
    return question_grid(summarise(typed(records)).at(0)).rows.at(line).back();
  };
  EXPECT_SAYS(last_cell(runs(5), 1), "): less");
  EXPECT_SAYS(last_cell(runs(5, 40), 1), "no difference seen");
  EXPECT_SAYS(last_cell(runs(5), 2), "): less") << "exactly equal in all runs";
  EXPECT_SAYS(last_cell(runs(4), 1), " pooled: less");
  EXPECT_SAYS(last_cell(runs(1), 1), "one run; no verdict");
  EXPECT_EQ(last_cell(runs(5), 3), "not measured on this device");
}

TEST(SourceQuestions, AnswersAreCorrectedForTheirNumber) {
  std::vector<json> records = runs(5);
  double p = 0;
  for (const Answer& answer : answers(records))
    if (answer.ratio.known()) p = std::max(p, *answer.more.p);
  EXPECT_LT(p, 0.05);
  // All runs of one side are below all of the other's, but the size of the difference is that of one run.
  for (int repeat = 0; repeat < 5; ++repeat)
    records[size_t(2 * repeat + 1)] = run("many", 0, repeat == 4 ? 20 : 39.9 - 0.1 * repeat, repeat);
  const std::string cell = question_grid(summarise(typed(records)).at(0)).rows.at(1).back();
  EXPECT_SAYS(cell, "not sure, p 0.");
}

TEST(SourceQuestions, WithoutARowThereIsTheReasonAndNoFigure) {
  auto records = runs(1);
  records[0]["status"] = "CRASHED";
  records[0]["reason"] = "signal 11";
  auto found = answers(records);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].why_not, "its base one: CRASHED: signal 11");
  EXPECT_FALSE(found[0].of_row);
  records.erase(records.begin());
  EXPECT_EQ(answers(records).at(0).why_not, "its base one did not run");
  auto smoke = runs(5);
  for (json& record : smoke) record["scale"]["name"] = "smoke";
  EXPECT_SAYS(answers(smoke).at(0).why_not, "smoke");
}

TEST(SourceQuestions, ARowThatWasTracedOnAGpuHasNoRate) {
  auto records = runs(5);
  for (json& record : records) {
    record["device"]["kind"] = "cuda";
    if (record["row"] == "many") record["config"]["answer"] = "images_per_s, step_time, loading";
  }
  EXPECT_TRUE(answers(records).at(1).more.decided());
  for (json& record : records)
    if (record["row"] == "many") record["trace"] = {{"first", 1}, {"last", 2}};
  const auto found = answers(records);
  ASSERT_EQ(found.size(), 3u);
  for (const size_t rate : {0, 1}) {
    EXPECT_FALSE(found[rate].of_row) << "the profiler's time is part of it";
    EXPECT_FALSE(found[rate].ratio.known());
    EXPECT_EQ(found[rate].more.verdict, Verdict::cannot_be_told);
  }
  EXPECT_EQ(found[2].of_row, 0.0);
}

TEST(SourceQuestions, OtherDevicesAndCopiesHaveFiguresOfTheirOwn) {
  auto records = runs(1);
  json& row = records[1];
  row["config"]["answer"] = "memory, other_memory, copying";
  for (json& record : records)
    record["device"] = {{"kind", "emulated"},
                        {"settings",
                         {{"peak_allocated_bytes", 3 << 20},
                          {"peak_allocated_bytes_by_device", json::array({3 << 20, 1 << 20, 2 << 20})}}}};
  row["data"] = {{"copied_in_s", 12.5}};
  const auto found = answers(records);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].of_row, 3.0);
  EXPECT_EQ(found[1].of_row, 2.0) << "the most of the others";
  EXPECT_EQ(found[2].of_row, 12.5);
  EXPECT_FALSE(found[2].of_base);
  EXPECT_EQ(question_grid(summarise(typed(records)).at(0)).rows.at(2).back(), "the base has none");
  records[0]["device"]["settings"]["peak_allocated_bytes_by_device"] = json::array({"x", {}, nullptr});
  EXPECT_EQ(answers(records).at(1).of_base, 0.0);
}

TEST(SourceQuestions, NoQuestionsNoTable) {
  auto records = runs(2);
  for (json& record : records) record["config"]["question"] = "";
  EXPECT_TRUE(question_grid(summarise(typed(records)).at(0)).empty());
}

}  // namespace harness::source_questions_test
