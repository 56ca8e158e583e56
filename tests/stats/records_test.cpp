// unit: records are appended completely and read back after crashes, and after changes by other programs
#include "harness/stats/records.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

namespace records_test {

using nlohmann::json;

json good_record(const std::string& row, int repeat = 0) {
  return {{"schema", 1},
          {"row", row},
          {"repeat", repeat},
          {"status", "OK"},
          {"reason", ""},
          {"config", {{"id", row}, {"batch", 16}}},
          {"scale", {{"name", "smoke"}}},
          {"device", {{"kind", "cpu"}}},
          {"timed_batches", 2},
          {"total_s", 0.08},
          {"samples_ms", {{"load", {{1.0, 2.0}}}, {"forward", {{39.0, 38.0}}}}}};
}

class Records : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "records.jsonl"; }
  void write_raw(const std::string& text) { std::ofstream(file(), std::ios::app) << text; }
  harness::Records read() {
    warnings_.str("");
    return harness::read_records(folder_, warnings_);
  }
  std::string warnings() const { return warnings_.str(); }

  const TemporaryFolder folder_;
  std::ostringstream warnings_;
};

TEST_F(Records, ComeBackAsWritten) {
  harness::append_record(file(), good_record("disk"));
  harness::append_record(file(), good_record("7"));
  const harness::Records records = read();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(to_json(records[0]), to_json(typed(good_record("disk"))));
  EXPECT_EQ(to_json(records[1]), to_json(typed(good_record("7"))));
  EXPECT_EQ(warnings(), "");
}

TEST_F(Records, OfSeveralAttemptsTheOneThatCountsIsRead) {
  const auto attempt = [&](int number, int counts, double total_s) {
    json record = good_record("7");
    record["total_s"] = total_s;
    record["attempt"] = {{"number", number}, {"counts", counts}};
    harness::append_record(file(), record);
  };
  harness::append_record(file(), good_record("7"));
  attempt(2, 2, 0.5);
  attempt(3, 2, 0.1);
  const harness::Records records = read();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].total_s, 0.5);
  EXPECT_EQ(warnings(), "");
}

TEST_F(Records, ComeBackWithoutTheListsThatNoTableShows) {
  json record = good_record("disk");
  record["spans_ms"] = {{"read", {{1.0, 2.0}}}};
  record["spans_ms"]["communication"] = {{0.5, 0.25}};
  record["loss"] = {7.0, 6.5};
  harness::append_record(file(), record);
  json kept = good_record("disk");
  kept["spans_ms"]["communication"] = {{0.5, 0.25}};
  EXPECT_EQ(to_json(read().at(0)), to_json(typed(kept)));
}

TEST_F(Records, ACutOffLastLineCostsOnlyItself) {
  harness::append_record(file(), good_record("disk"));
  write_raw(good_record("7").dump().substr(0, 100));
  EXPECT_EQ(read().size(), 1u);
  EXPECT_SAYS(warnings(), "records.jsonl:2: the line is cut off");
  harness::append_record(file(), good_record("12"));
  const harness::Records records = read();
  ASSERT_EQ(records.size(), 2u) << "the next record must not be glued to the cut one";
  EXPECT_EQ(records[1].row, "12");
}

TEST_F(Records, AWholeLastLineWithoutNewlineCounts) {
  write_raw(good_record("disk").dump());
  EXPECT_EQ(read().size(), 1u);
  EXPECT_EQ(warnings(), "");
}

TEST_F(Records, ForeignAndDamagedLinesAreNamedAndLeftOut) {
  write_raw("hello\n[1, 2]\n{\"schema\": 2}\n{}\n\n" + std::string("\0\xff\n", 3) + std::string(2000, '[') +
            "\n");
  harness::append_record(file(), good_record("disk"));
  EXPECT_EQ(read().size(), 1u);
  EXPECT_SAYS(warnings(), "records.jsonl:1: not JSON");
  EXPECT_SAYS(warnings(), "records.jsonl:2: `line`: expected a JSON object, found [1,2]");
  EXPECT_SAYS(warnings(), "records.jsonl:3: `schema`: expected 1, the only supported version, found 2");
  EXPECT_SAYS(warnings(), "records.jsonl:4: `schema` is missing");
  EXPECT_SAYS(warnings(), "records.jsonl:6: not JSON");
  EXPECT_SAYS(warnings(), "records.jsonl:7: not JSON");
}

TEST_F(Records, ImpossibleTimesAreRefused) {
  for (const double ms : {-1.0, std::nan("")}) {
    json record = good_record("a");
    record["samples_ms"]["load"][0][1] = ms;
    harness::append_record(file(), record);
  }
  write_raw("{\"schema\": 1, \"total_s\": NaN}\n{\"schema\": 1, \"total_s\": 1e999}\n");
  EXPECT_TRUE(read().empty());
  EXPECT_SAYS(warnings(), ":1: `samples_ms.load`: expected a time of 0 or more, found -1");
  EXPECT_SAYS(warnings(), ":2: `samples_ms.load`: expected a time of 0 or more, found null");
  EXPECT_SAYS(warnings(), ":3: not JSON");
  EXPECT_SAYS(warnings(), ":4: not JSON");
}

TEST_F(Records, ARowThatIsNotOkNeedsNoFigures) {
  json record = good_record("15");
  for (const char* key : {"timed_batches", "total_s", "samples_ms"}) record.erase(key);
  record["status"] = "SKIPPED";
  record["reason"] = "no MPI here; apt-get install libopenmpi-dev";
  EXPECT_NO_THROW(harness::record_from_json(record));
}

TEST_F(Records, TheLaterOfTwoRecordsOfOneRepeatCounts) {
  harness::append_record(file(), good_record("7"));
  harness::append_record(file(), good_record("7", 1));
  json again = good_record("7");
  again["total_s"] = 0.09;
  harness::append_record(file(), again);
  const harness::Records records = read();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].total_s, 0.09);
  EXPECT_SAYS(warnings(), "records.jsonl:3: row 7 repeat 0 again; it replaces line 1");
}

TEST_F(Records, AnyBytesOfACrashedProcessFitIntoAReason) {
  json record = good_record("7");
  record["status"] = "CRASHED";
  record["reason"] = "signal 11: \xff\xfe\nnext line";
  harness::append_record(file(), record);
  EXPECT_EQ(read().size(), 1u);
}

TEST_F(Records, AMissingFileNamesTheNextStep) {
  EXPECT_SAYS(failure_of([&] { read(); }), "name the folder of a run");
}

TEST_F(Records, AFullDiskIsNamedAndLeavesTheFileWhole) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_SAYS(failure_of([] { harness::append_record("/dev/full", good_record("7")); }), "--out");
  EXPECT_THROW(harness::append_record(folder_ / "absent" / "records.jsonl", good_record("7")),
               std::runtime_error);
}

}  // namespace records_test
