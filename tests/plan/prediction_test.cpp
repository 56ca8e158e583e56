// unit: how long rows will take, from earlier runs and without any.
#include "harness/plan/prediction.h"

#include <gtest/gtest.h>

#include <fstream>

#include "harness/contract/config_hash.h"
#include "tests/support/temporary_folder.h"

namespace harness::prediction_test {

using nlohmann::json;

const json machine = {{"cpu", "Zen"}, {"cores", 8}, {"memory_bytes", 8.0e9}};

Row row_of(const std::string& id) {
  Row row;
  row.id = id;
  row.batch = 32;
  row.warmup_batches = 0;
  row.timed_batches = 100;
  return row;
}

Scale rehearsal() {
  Scale scale;
  scale.name = "rehearsal";
  return scale;
}

json record_of(const Row& row, double wall_s) {
  return {{"schema", 1},
          {"row", row.id},
          {"repeat", 0},
          {"status", "OK"},
          {"timed_batches", 2},
          {"total_s", wall_s},
          {"wall_s", wall_s},
          {"scale", {{"name", "rehearsal"}}},
          {"device", {{"kind", "cpu"}, {"name", "as the slice calls it"}}},
          {"machine", machine},
          {"config", to_json(row)},
          {"samples_ms", {{"load", {{1.0, 2.0}}}}}};
}

class Predictions : public testing::Test {
 protected:
  // `age`: hours ago that it was written.
  void add_run(const std::string& name, const std::vector<json>& records, int age = 0) {
    fs::create_directories(runs_ / name);
    const fs::path file = runs_ / name / "records.jsonl";
    std::ofstream stream(file);
    for (const json& record : records) stream << record << '\n';
    stream.close();
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(age));
  }
  Prediction predicted(const Row& row) {
    return predict({row, "", {}}, rehearsal(), decode<RecordMachine>(machine), read_past_durations(runs_));
  }

  const TemporaryFolder runs_;
};

TEST_F(Predictions, TheSameRowWithTheSameSettingsComesFirst) {
  Row other = row_of("7");
  other.precision = "bf16";
  add_run("a", {record_of(row_of("7"), 10), record_of(row_of("7"), 11), record_of(row_of("7"), 12)});
  add_run("b", {record_of(other, 50), record_of(row_of("8"), 99)});
  const Prediction same = predicted(row_of("7"));
  EXPECT_EQ(same.from, Prediction::From::earlier_runs);
  EXPECT_DOUBLE_EQ(same.seconds, 11);
  Row third = row_of("7");
  third.precision = "o3";
  const Prediction like = predicted(third);
  EXPECT_EQ(like.from, Prediction::From::other_settings);
  EXPECT_DOUBLE_EQ(like.seconds, 11.5) << "the median of all four";
}

TEST_F(Predictions, AnUnknownRowTakesWhatABatchOfTheOthersTook) {
  Row longer = row_of("9");
  longer.timed_batches = 300;
  add_run("a", {record_of(row_of("7"), 10), record_of(row_of("8"), 20)});
  const Prediction it = predicted(longer);
  EXPECT_EQ(it.from, Prediction::From::estimate);
  EXPECT_DOUBLE_EQ(it.seconds, 45) << "300 batches of 0.15 s";
}

TEST_F(Predictions, WithoutAnyRunLargerBatchesTakeLonger) {
  Row large = row_of("9");
  large.batch *= 2;
  EXPECT_EQ(predicted(large).from, Prediction::From::estimate);
  EXPECT_GT(predicted(row_of("9")).seconds, 2);
  EXPECT_GT(predicted(large).seconds, predicted(row_of("9")).seconds);
}

TEST_F(Predictions, WithoutAnyRunModelledTimesAreMultipliedByTheTimeScale) {
  Row row = row_of("9");
  row.device = "emulated";
  const double once = predicted(row).seconds;
  row.time_scale = 8;
  EXPECT_NEAR(predicted(row).seconds - once, 7 * 100 * 32 * 161.0 / (300 * 512), 0.1)
      << "100 batches of 32; the article's row 0 takes 161.0 s for 300 batches of 512";
}

TEST_F(Predictions, OtherMachinesScalesAndFailuresSayNothing) {
  json elsewhere = record_of(row_of("7"), 1000), larger = elsewhere, failed = elsewhere;
  elsewhere["machine"]["cores"] = 2;
  larger["scale"]["name"] = "article";
  failed["status"] = "TIMEOUT";
  add_run("a", {elsewhere, larger, failed});
  EXPECT_EQ(predicted(row_of("7")).from, Prediction::From::estimate);
  EXPECT_LT(predicted(row_of("7")).seconds, 1000);
}

TEST_F(Predictions, OnlyTheNewestRunsCount) {
  for (int i = 0; i < 7; ++i) add_run("run" + std::to_string(i), {record_of(row_of("7"), 10 + i)}, i);
  EXPECT_DOUBLE_EQ(predicted(row_of("7")).seconds, 12) << "the median of 10 to 14";
  for (int i = 0; i < int(kRunsRead); ++i)
    add_run("newer" + std::to_string(i), {record_of(row_of("8"), 1)}, -1);
  EXPECT_EQ(predicted(row_of("7")).from, Prediction::From::estimate) << "older than the newest 20 runs";
}

TEST_F(Predictions, WhatWasReadIsKeptUntilTheRecordsChange) {
  add_run("a", {record_of(row_of("7"), 10)});
  const std::vector<PastDuration> first = read_past_durations(runs_);
  ASSERT_TRUE(fs::exists(runs_ / "durations.json"));
  const auto bytes = fs::file_size(runs_ / "a" / "records.jsonl");
  std::ofstream(runs_ / "a" / "records.jsonl") << std::string(bytes, ' ');  // would be noticed if read
  ASSERT_EQ(read_past_durations(runs_).size(), 1u);
  EXPECT_EQ(read_past_durations(runs_)[0].machine, first[0].machine);
  add_run("a", {record_of(row_of("7"), 10), record_of(row_of("7"), 20)});
  EXPECT_EQ(read_past_durations(runs_).size(), 2u);
}

TEST_F(Predictions, DamagedFilesCostOnlyWhatTheyHold) {
  add_run("a", {record_of(row_of("7"), 10), "no record", 3, json::array()});
  std::ofstream(runs_ / "a" / "records.jsonl", std::ios::app) << "{\"row\": \"7\", \"stat";
  fs::create_directories(runs_ / "empty");
  for (const char* kept : {"{", "[]", "{\"a\": 3}", "{\"a\": {\"bytes\": \"x\"}}"}) {
    std::ofstream(runs_ / "durations.json") << kept;
    EXPECT_DOUBLE_EQ(predicted(row_of("7")).seconds, 10) << kept;
  }
  const auto bytes = fs::file_size(runs_ / "a" / "records.jsonl");
  for (const json& taken : {json("x"), json({1}), json({{1, 2, 3, 4, 5, 6}})}) {
    std::ofstream(runs_ / "durations.json") << json{{"a", {{"bytes", bytes}, {"taken", taken}}}};
    EXPECT_DOUBLE_EQ(predicted(row_of("7")).seconds, 10) << taken;
  }
}

TEST(PredictionText, SaysHowMuchIsKnown) {
  using From = Prediction::From;
  const std::vector<Prediction> rows = {
      {5, From::earlier_runs}, {6, From::earlier_runs}, {7, From::estimate}};
  EXPECT_EQ(describe_predictions(rows, 480, 3),
            "about 8 min for 3 rows (2 known from earlier runs, 1 estimated)");
  EXPECT_EQ(describe_predictions({{5, From::other_settings}}, 15, 3),
            "about 15 s for 3 runs of 1 row (1 from runs with other settings)");
  EXPECT_EQ(duration_text(2.14), "2.1 s");
  EXPECT_EQ(duration_text(9000), "2.5 h");
}

}  // namespace harness::prediction_test
