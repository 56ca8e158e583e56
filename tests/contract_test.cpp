// unit: the structs exchanged between programs and stored in records: nothing is lost in conversion to JSON
// and back, and violations are reported with their key.
#include <gtest/gtest.h>

#include <fstream>

#include "failure_of.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/contract/job.h"
#include "harness/contract/record.h"

namespace harness::contract_test {

using nlohmann::json;

std::vector<json> sample_records() {
  std::vector<json> records;
  std::ifstream file(SOURCE_DIR "/results/sample/records.jsonl");
  for (std::string line; std::getline(file, line);) records.push_back(base::require_json(line));
  return records;
}

// The differences of `there` from `here`, by path.
std::string lost(const json& there, const json& here, const std::string& at = "") {
  if (there.is_object() && here.is_object()) {
    std::string text;
    for (const auto& [key, value] : there.items())
      // An empty list is the same as none.
      text += here.contains(key) ? lost(value, here[key], at + "/" + key)
              : value.empty()    ? ""
                                 : at + "/" + key + " ";
    return text;
  }
  return there == here ? "" : at + " ";
}

TEST(Contract, TheReadmeOfResultsListsEveryKeyOfARecord) {
  EXPECT_NE(base::read_file(SOURCE_DIR "/results/README.md").find(record_keys_as_markdown()),
            std::string::npos)
      << "put there what ./run_matrix list --keys prints";
}

TEST(Contract, RecordsOfToday) {
  const auto records = sample_records();
  ASSERT_GT(records.size(), 20u);
  for (const json& record : records)
    EXPECT_EQ(lost(record, to_json(record_from_json(record))), "") << record["row"];
}

TEST(Contract, ARecordOfAnEarlierVersionMayHaveFewerFieldsAndOfALaterOneMore) {
  json record = sample_records().front();
  record["config"].erase("fused_sgd");
  record["config"]["field_of_tomorrow"] = 3;
  record["key_of_tomorrow"] = "x";
  record.erase("timeline");
  const Record read = record_from_json(record);
  EXPECT_TRUE(read.config.fused_sgd);
  EXPECT_FALSE(read.timeline);
}

TEST(Contract, WhatIsNotAsAgreedIsNamedByItsKey) {
  struct Case {
    const char* pointer;
    json value;
    const char* words;
  };
  const std::vector<Case> cases = {
      {"/schema", 2, "`schema`: expected 1"},
      {"/row", nullptr, "`row`: expected text, found null"},
      {"/repeat", -1, "`repeat`: expected 0 or more, found -1"},
      {"/status", "FINE", "`status`: expected OK"},
      {"/config/batch", "32", "`config.batch`: expected a whole number, found \"32\""},
      {"/config/momentum", "high", "`config.momentum`: expected a number"},
      {"/config/sync_bn", 1, "`config.sync_bn`: expected true or false, found 1"},
      {"/scale", json::object(), "`scale.name`"},
      {"/machine", "fast", "`machine`: expected an object, found \"fast\""},
      {"/machine/cores", "two", "`machine.cores`: expected a whole number"},
      {"/notes", "cpus", "`notes`: expected a list"},
      {"/checks/0/ok", "yes", "`checks[0].ok`: expected true or false"},
      {"/total_s", 0, "`total_s`: expected a positive number, found 0"},
      {"/timed_batches", 2.5, "`timed_batches`: expected a whole number, found 2.5"},
      {"/samples_ms/load/0/7", -1, "`samples_ms.load`: expected times"},
      {"/samples_ms/load/0/7", "x", "`samples_ms.load[0][7]`: expected a number, found \"x\""},
      {"/samples_ms/load/0", json::array({1}), "`samples_ms.load`: expected 300 batches"},
      {"/samples_ms/lunch", json::array({json::array({1})}), "`samples_ms.lunch`: expected a phase"},
  };
  for (const Case& one : cases) {
    json record = sample_records().front();
    record[json::json_pointer(one.pointer)] = one.value;
    const std::string failure = failure_of([&] { record_from_json(record); });
    EXPECT_NE(failure.find(one.words), std::string::npos) << one.pointer << ": " << failure;
  }
  for (const char* key : {"schema", "row", "repeat", "status", "config", "scale", "device"}) {
    json record = sample_records().front();
    record.erase(key);
    const std::string failure = failure_of([&] { record_from_json(record); });
    EXPECT_NE(failure.find("`" + std::string(key) + "`"), std::string::npos) << failure;
  }
}

TEST(Contract, RowsAndJobsThereAndBack) {
  Job job;
  job.row.id = "12";
  job.row.batch = 17;
  job.row.read_rate = 2.5e6;
  job.row.sync_bn = true;
  job.directory = "/run/rows/12";
  job.packed = {{"lmdb", "/packed/lmdb"}};
  job.trace = TracedBatches{3, 5};
  job.emulated_link = true;
  const Job again = decode<Job>(encode(job));
  EXPECT_EQ(encode(again), encode(job));
  EXPECT_EQ(to_json(again.row), to_json(job.row));
  EXPECT_EQ(again.trace->last, 5);
  EXPECT_FALSE(decode<Job>(encode(Job{})).trace);
}

TEST(Contract, AJobWithAFieldThatThisBuildDoesNotKnowIsRefused) {
  json job = encode(Job{});
  job["row"]["field_of_tomorrow"] = 3;
  EXPECT_NE(failure_of([&] { decode<Job>(job); }).find("row.field_of_tomorrow"), std::string::npos);
  job = encode(Job{});
  job.erase("directory");
  EXPECT_NE(failure_of([&] { decode<Job>(job); }).find("`directory`"), std::string::npos);
}

TEST(Contract, EveryFieldHasARoleThatFitsWhatItIs) {
  for (const Field& field : fields()) {
    const std::string name = field.name;
    EXPECT_TRUE(field.role == Role::descriptive || name.rfind("published", 0) != 0) << name;
    EXPECT_STRNE(field.help, "") << name;
  }
  EXPECT_TRUE(has_role("batch", Role::sizing));
  EXPECT_TRUE(has_role("seed", Role::measurement));
  EXPECT_FALSE(has_role("no_such_field", Role::identity));
}

}  // namespace harness::contract_test
