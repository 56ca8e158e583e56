// unit: records as JSON lose nothing in reading and writing, and violations are reported with their key.
#include <gtest/gtest.h>

#include <climits>
#include <fstream>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/contract/dataset.h"
#include "harness/contract/job.h"
#include "harness/contract/record.h"
#include "tests/support/failure_of.h"

namespace harness::contract_test {

using nlohmann::json;

std::vector<json> sample_records() {
  std::vector<json> records;
  std::ifstream file(SOURCE_DIR "/results/sample-cpu/records.jsonl");
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
  ASSERT_GE(records.size(), 4u);
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
      {"/status", "FINE", "`status`: expected OK, SKIPPED or the kind of failure, found \"FINE\""},
      {"/config/batch", "32", "`config.batch`: expected a whole number, found \"32\""},
      {"/config/momentum", "high", "`config.momentum`: expected a number"},
      {"/config/sync_bn", 1, "`config.sync_bn`: expected true or false, found 1"},
      {"/scale", json::object(), "`scale.name`"},
      {"/machine", "fast", "`machine`: expected an object, found \"fast\""},
      {"/machine/cores", "two", "`machine.cores`: expected a whole number"},
      {"/notes", "cpus", "`notes`: expected a list"},
      {"/communication", 5, "`communication`: expected an object"},
      {"/device_ms", 5, "`device_ms`: expected an object"},
      {"/checks/0/ok", "yes", "`checks[0].ok`: expected true or false"},
      {"/total_s", 0, "`total_s`: expected a positive number, found 0"},
      {"/timed_batches", 2.5, "`timed_batches`: expected a whole number, found 2.5"},
      {"/samples_ms/load/0/7", -1, "`samples_ms.load`: expected a time of 0 or more"},
      {"/samples_ms/load/0/7", "x", "`samples_ms.load[0][7]`: expected a number, found \"x\""},
      {"/samples_ms/load/0", json::array({1}), " batches on every rank, found 1"},
      {"/samples_ms/lunch", json::array({json::array({1})}),
       "`samples_ms.lunch`: expected the name of a phase"},
  };
  for (const Case& one : cases) {
    json record = sample_records().front();
    record[json::json_pointer(one.pointer)] = one.value;
    const std::string failure = failure_of([&] { record_from_json(record); });
    EXPECT_SAYS(failure, one.words) << one.pointer;
  }
  for (const char* key : {"schema", "row", "repeat", "status", "config", "scale", "device"}) {
    json record = sample_records().front();
    record.erase(key);
    const std::string failure = failure_of([&] { record_from_json(record); });
    EXPECT_SAYS(failure, "`" + std::string(key) + "`");
  }
}

template <class T>
std::string refused(const char* number) {
  return failure_of([&] { decode<T>(json::parse(number), "port"); });
}

TEST(Contract, WholeNumbersOutsideOfTheirTypeAreRefused) {
  EXPECT_EQ(refused<int>("4294967297"),
            "`port`: expected a whole number from -2147483648 to 2147483647, found 4294967297");
  EXPECT_SAYS(refused<int>("-2147483649"), "from -2147483648");
  EXPECT_SAYS(refused<uint64_t>("-1"), "a whole number from 0 to 18446744073709551615, found -1");
  EXPECT_SAYS(refused<size_t>("-1.0"), "from 0 to");
  for (const char* number : {"1e300", "-1e300", "9223372036854775808", "9223372036854775808.0"})
    EXPECT_SAYS(refused<int64_t>(number), "to 9223372036854775807");
  EXPECT_EQ(decode<int>(-2147483648.0), INT_MIN);
  EXPECT_EQ(decode<int64_t>(INT64_MIN), INT64_MIN);
  EXPECT_EQ(decode<int64_t>(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(decode<uint64_t>(UINT64_MAX), UINT64_MAX);
}

TEST(Contract, WhatIsNoRecordIsCalledThat) {
  json record = sample_records().front();
  record.erase("schema");
  EXPECT_EQ(failure_of([&] { record_from_json(record); }),
            "`schema` is missing: expected 1; this is not a record");
  EXPECT_EQ(failure_of([] { index_header("{}"); }),
            "`version` is missing: expected 1; this is not the index of a data set");
}

TEST(Contract, AJobWithAFieldThatThisBuildDoesNotKnowIsRefused) {
  json job = encode(Job{});
  job["row"]["field_of_tomorrow"] = 3;
  EXPECT_SAYS(failure_of([&] { decode<Job>(job); }), "row.field_of_tomorrow");
  job = encode(Job{});
  job.erase("directory");
  EXPECT_SAYS(failure_of([&] { decode<Job>(job); }), "`directory`");
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
