// unit: rows on emulated devices train a few real steps first, with a fake train_slice: a step that fails
// leaves no figure; equal work is done once; what can't start is said; whole slices are kept, once.
#include "harness/run/real_training.h"

#include "harness/run/execution.h"
#include "harness/run/selected_rows.h"
#include "harness/stats/records.h"
#include "tests/support/article_rows.h"
#include "tests/support/program.h"
#include "tests/support/small_images.h"

namespace harness::real_training_test {

class RealSteps : public Program {
 protected:
  void SetUp() override { bench::small_dataset(directory / "data", 64); }
  int emulated(const std::string& only, const std::string& behaviour = "",
               std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--device", "emulated", "--set", "cache=as_is", "--set", "storage=synthetic",
                             "--data", directory / "data"});
    std::vector<std::string> words = {"--scale", "smoke", "--only", only, "--out", directory / "run"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {{"FAKE_SLICE", behaviour}, {"FAKE_LOADER", "100"}});
  }
  void TearDown() override {
    for (const char* name : set_) ::unsetenv(name);
    Program::TearDown();
  }
  // In this process, until the test ends.
  void set(const char* name, const char* value) {
    ::setenv(name, value, 1);
    set_.push_back(name);
  }
  static json check_of(const json& record) {
    for (const json& check : record.value("checks", json::array()))
      if (check["name"] == "trained") return check;
    return {};
  }
  bool ran(const std::string& folder) const { return fs::exists(directory / "run/rows" / folder); }

 private:
  std::vector<const char*> set_;
};

TEST_F(RealSteps, AreACheckOfTheRowAndEqualWorkIsDoneOnce) {
  ASSERT_EQ(emulated("tmpfs,0,12", "", {"--repeat", "2"}), 0) << errors();
  const auto all = records_in("run");
  ASSERT_EQ(all.size(), 6u);
  for (const json& record : all) {
    EXPECT_EQ(check_of(record)["ok"], true) << record["row"];
    EXPECT_SAYS(check_of(record)["detail"].get<std::string>(), "loss 6.00 to 1.50 in 16 steps");
    EXPECT_EQ(
        check_of(record)["detail"].get<std::string>().find("as row tmpfs, done once") != std::string::npos,
        record["row"] == "0")
        << check_of(record);
  }
  EXPECT_TRUE(ran("tmpfs-trained-repeat0"));
  EXPECT_TRUE(ran("12-trained-repeat0"));
  EXPECT_FALSE(ran("0-trained-repeat0"));
  EXPECT_FALSE(ran("12-trained-repeat1")) << "once in a run";
  EXPECT_TRUE(says("3 of 3 rows trained for real on this processor")) << output();
}

TEST_F(RealSteps, ThatFailLeaveTheRowWithoutAFigure) {
  ASSERT_EQ(emulated("0,7,12,o2", "0-trained=flat,7-trained=crash,12-trained=invalid"), 1) << errors();
  std::map<std::string, json> by_row;
  for (const json& record : records_in("run")) by_row[record["row"]] = record;
  for (const auto& [row, why] :
       {std::pair("0", "trained: INVALID: loss 1.50 to 1.50 in 16 steps on one batch: it must fall to 0.75"),
        std::pair("7", "trained: CRASHED: ended by signal 6"),
        std::pair("12", "trained: INVALID: cache: ")}) {
    EXPECT_EQ(by_row[row]["status"], "INVALID") << row;
    EXPECT_SAYS(by_row[row]["reason"].get<std::string>(), why);
    EXPECT_FALSE(by_row[row].contains("total_s")) << row;
    EXPECT_EQ(check_of(by_row[row])["ok"], false) << row;
    EXPECT_FALSE(ran(std::string(row) + "-repeat0")) << "it is not timed";
  }
  EXPECT_EQ(by_row["o2"]["status"], "OK");
  EXPECT_TRUE(says("1 of 4 rows trained for real on this processor (not in ")) << output();
}

TEST_F(RealSteps, OfRowsOnTheProcessorAreTheRowItself) {
  ASSERT_EQ(smoke_in("run", "0"), 0);
  EXPECT_TRUE(check_of(records_in("run").at(0)).is_null());
  EXPECT_FALSE(says("a few real steps"));
}

// The class without the program around it.
class Training : public RealSteps {
 protected:
  void SetUp() override {
    RealSteps::SetUp();
    set("FAKE_SLICE", "");
    for (const Row& row : article("emulated").rows)
      if (row.id == "18") planned_.row = row;
    planned_.row.device = "emulated";
  }
  std::optional<harness::RealSteps> steps(const AxisValues& values) {
    const Installation installation{SOURCE_DIR, BINARY_DIR "/tests/fake_slice", BINARY_DIR "/make_dataset",
                                    directory};
    const Request request;
    const Scale scale = find_scale(scales(), "emulated");
    const DataSets data;
    const RecordMachine machine;
    const RecordBuild build;
    const std::map<std::string, EmulatedDevice> devices;
    RealTraining training(installation, request);
    return training.steps(
        {installation, request, values, scale, data, machine, build, devices, directory / "run"}, planned_);
  }
  PlannedRow planned_;
};

TEST_F(Training, WithoutALinkBetweenNodesRanksTrainOnOne) {
  AxisValues some = values();
  for (AxisValue& link : some["link"])
    if (link.name == "infiniband") link.missing = "no namespaces here";
  const auto found = steps(some);
  ASSERT_TRUE(found && found->check);
  EXPECT_TRUE(found->check->ok) << found->check->detail;
  EXPECT_SAYS(found->check->detail, "over gloo") << ": no MPI here";
  EXPECT_SAYS(found->check->detail, "without the link between 2 nodes");
}

TEST_F(Training, WhatCannotStartIsSaidAndIsNoFailure) {
  AxisValues none = values();
  for (AxisValue& backend : none["backend"]) backend.missing = "no collectives here";
  const auto found = steps(none);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->check || found->failed());
  Record record;
  found->write_to(record);
  EXPECT_TRUE(record.checks.empty());
  ASSERT_EQ(record.notes.size(), 1u);
  EXPECT_EQ(record.notes[0], "no real steps on this processor: no collectives here");
}

// A run of three rows of which two do the same work.
class Slices : public RealSteps {
 protected:
  void SetUp() override {
    RealSteps::SetUp();
    set("FAKE_SLICE", "7-slice=crash");
    set("FAKE_LOADER", "100");
    request_.configs = {SOURCE_DIR "/configs/article.yaml"};
    request_.only = "0,7,8";
    request_.scale = "smoke";
    request_.device = "emulated";
    request_.data = directory / "data";
    request_.out = directory / "run";
    values_ = ask_values(installation_);
  }
  std::vector<json> trained() const {
    std::vector<json> all;
    std::ifstream file(directory / "run" / kTrainingFile);
    for (std::string line; std::getline(file, line);) all.push_back(json::parse(line));
    return all;
  }
  const Installation installation_{SOURCE_DIR, BINARY_DIR "/tests/fake_slice", BINARY_DIR "/make_dataset",
                                   directory};
  Request request_;
  AxisValues values_;
};

TEST_F(Slices, AreTrainedOnceAndKeptWithTheirRows) {
  const auto execution = Execution::prepare(installation_, request_, values_);
  ASSERT_TRUE(execution);
  LiveLine line(3);
  for (const PlannedRow& planned : execution->plan()) ASSERT_TRUE(execution->run(planned, 0, line));
  execution->train_slices([] { return false; });
  EXPECT_TRUE(trained().empty()) << "no time was left";
  execution->train_slices([] { return true; });
  const std::vector<json> lines = trained();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["row"], "0");
  EXPECT_EQ(lines[0]["training"], json::parse(R"({"batches": 6, "first_loss": 2.25, "last_loss": 2.25})"));
  EXPECT_EQ(lines[0]["config"]["storage"], "raw");
  EXPECT_EQ(lines[0]["device"]["kind"], "cpu");
  for (const json& failed : {lines[1], lines[2]})
    EXPECT_SAYS(failed["training"]["reason"].get<std::string>(), "CRASHED: ended by signal 6");
  EXPECT_EQ(lines[2]["training"]["done_for"], "7") << "8 differs in threads alone";
  for (const Record& record : execution->records()) EXPECT_TRUE(record.training) << record.row;

  ASSERT_TRUE(execution->run(execution->plan()[0], 1, line));
  EXPECT_TRUE(execution->records().back().training) << "a later repeat of the row";
  execution->train_slices([] { return true; });
  EXPECT_EQ(trained().size(), 5u) << "only those that failed are trained again";
}

TEST(TrainingFile, IsReadWithTheRecordsOfItsRows) {
  const TemporaryFolder run;
  Record record;
  record.row = "0";
  record.status = "OK";
  record.total_s = 1, record.timed_batches = 6;
  append_record(run / "records.jsonl", to_json(record));
  record.repeat = 1;
  append_record(run / "records.jsonl", to_json(record));
  record.training = {
      "", 6, 7.0, 3.0, "",
  };
  append_record(run / kTrainingFile, to_json(record));
  record.training = {"7", 6, 6.5, 2.5, ""};  // trained again, in a continued run
  append_record(run / kTrainingFile, to_json(record));
  std::ofstream(run / kTrainingFile, std::ios::app) << "{\"row\": ";
  std::ostringstream warnings;
  const Records records = read_records(run, warnings);
  ASSERT_EQ(records.size(), 2u);
  for (const Record& one : records) {
    ASSERT_TRUE(one.training);
    EXPECT_EQ(one.training->last_loss, 2.5);
    EXPECT_EQ(one.training->done_for, "7");
  }
  EXPECT_SAYS(warnings.str(), "training.jsonl:3: ");
}

}  // namespace harness::real_training_test
