// net: processes of a row that are killed or stop while it runs: each case ends the row with the right status
// and the reason, and leaves no process, no namespace and no folder behind.
#include "tests/support/launch_faults.h"

#include "harness/emulate/two_nodes.h"
#include "tests/support/small_images.h"

namespace launch_faults_test {

using namespace launch_faults;

class OnEveryBackend : public LaunchFaults, public testing::WithParamInterface<const char*> {
 protected:
  Words backend() const { return {"--set", std::string("backend=") + GetParam()}; }
};

TEST_P(OnEveryBackend, ARankKilledInTheMiddle) {
  const pid_t pid = start_long("12", backend());
  ::kill(training_rank(2), SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  const std::string reason = record()["reason"];
  EXPECT_SAYS(reason, "rank 2");
  EXPECT_SAYS(reason, "signal 9");
  EXPECT_FALSE(record().contains("total_s"));
  EXPECT_EQ(left_behind(pid), "");
}

TEST_P(OnEveryBackend, ARankThatStopsAnswering) {
  Words more = backend();
  more.insert(more.end(), {"--hang-after", "2"});
  const pid_t pid = start_long("12", more);
  ::kill(training_rank(1), SIGSTOP);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "HUNG") << record()["reason"];
  EXPECT_EQ(record()["stacks"].size(), 4u);
  EXPECT_SAYS(record()["stacks"][0].get<std::string>(), "train_slice")
      << "a rank that waits for the stopped one shows where";
  EXPECT_EQ(left_behind(pid), "");
}

TEST_P(OnEveryBackend, RunMatrixItselfKilled) {
  const pid_t pid = start_long("12", backend());
  training_rank(0);
  ::kill(pid, SIGKILL);
  exit_code_of(pid);
  // What stays is the scratch folder: a later run removes it.
  const pid_t next = start_matrix("12", {"--set", "storage=synthetic"}, "next");
  EXPECT_EQ(exit_code_of(next), 0);
  EXPECT_EQ(left_behind(pid), "");
}

INSTANTIATE_TEST_SUITE_P(Backends, OnEveryBackend, testing::Values("mpi", "gloo"),
                         [](const auto& info) { return std::string(info.param); });

class TwoNodesFaults : public LaunchFaults {
 protected:
  void SetUp() override {
    LaunchFaults::SetUp();
    if (!harness::why_no_two_nodes().empty()) GTEST_SKIP() << harness::why_no_two_nodes();
  }
};

TEST_F(TwoNodesFaults, ARankOfTheSecondNodeKilled) {
  const pid_t pid = start_long("17");
  ::kill(training_rank(6), SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  EXPECT_SAYS(record()["reason"].get<std::string>(), "rank 6");
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(TwoNodesFaults, ACrashOfARankOfTheSecondNodeShowsWhere) {
  const pid_t pid = start_long("17");
  ::kill(training_rank(6), SIGSEGV);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  const std::string reason = record()["reason"];
  EXPECT_SAYS(reason, "rank 6");
  EXPECT_SAYS(reason, "train_slice(") << ": its stack's innermost frame";
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(TwoNodesFaults, ARankOfTheSecondNodeStopped) {
  const pid_t pid = start_long("18", {"--hang-after", "2"});
  ::kill(training_rank(5), SIGSTOP);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "HUNG") << record()["reason"];
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(TwoNodesFaults, AnInterruptAndAKillLeaveNoNamespace) {
  for (const int signal : {SIGINT, SIGKILL}) {
    fs::remove_all(directory / "run");
    const pid_t pid = start_long("17");
    training_rank(0);
    ::kill(pid, signal);
    exit_code_of(pid);
    if (const fs::path scratch = scratch_of(pid); !scratch.empty())
      fs::remove_all(scratch);  // a later run would, after a kill
    EXPECT_EQ(left_behind(pid), "");
  }
}

// With copies of its own: a test that ends early leaves a damaged one.
class PackedFaults : public LaunchFaults {
 protected:
  pid_t start_packed(Words more, const char* run) {
    more.insert(more.end(), {"--data", directory / "images"});
    return start_marked(matrix("0", more, run), {{"RUN_MATRIX_DATA", directory / "data"}});
  }
};

TEST_F(PackedFaults, ACopyThatBecomesShorterIsNamed) {
  bench::small_dataset(directory / "images", 200);
  for (const char* storage : {"raw", "tfrecord", "lmdb"}) {
    const pid_t pid = start_packed(
        {"--set", std::string("storage=") + storage, "--set", "timed_batches=100000", "--set", "batch=8"},
        storage);
    row_folder = directory / storage / "rows" / "0-repeat0";
    training_rank(0);
    const fs::path packed = json::parse(content_of(row_folder / "job.json"))["packed"][storage];
    for (const auto& file : fs::recursive_directory_iterator(packed))
      if (file.is_regular_file() && file.file_size() > (1 << 16)) fs::resize_file(file.path(), 4096);
    EXPECT_EQ(exit_code_of(pid), 1);
    std::ifstream stream(directory / storage / "records.jsonl");
    const json record = json::parse(stream);
    EXPECT_EQ(record["status"], "CRASHED") << storage;
    const std::string reason = record["reason"];
    EXPECT_SAYS(reason, packed.string() + "/");
    EXPECT_SAYS(reason, "became shorter while it was read");
    EXPECT_SAYS(reason, "remove the folder " + packed.string());
    fs::remove_all(packed);
    EXPECT_EQ(left_behind(pid), "");
  }
}

// In the middle, where the images are; LMDB's size of a page, by which the library divides; and the number of
// records in its leaves (pages with flag 2), beyond which it reads in all loader threads at once.
TEST_F(PackedFaults, ADamagedCopyIsNamed) {
  bench::small_dataset(directory / "images", 200);
  const auto made = [&](Words words) {
    words.insert(words.begin(), BINARY_DIR "/make_dataset");
    words.insert(words.end(), {"--store", directory / "data/packed"});
    base::Command command;
    command.arguments = words;
    const base::Finished finished = base::run_to_end(command);
    const size_t last = finished.output.find_last_of('\n', finished.output.size() - 2) + 1;
    return json::parse(finished.output.substr(last));
  };
  const std::string index = made({"index", "--data", directory / "images"})["index"];
  for (const std::string storage :
       {"hdf5", "arrow", "parquet", "tfrecord", "raw", "lmdb", "lmdb's pages", "lmdb's leaves"}) {
    const bool pages = storage == "lmdb's pages", leaves = storage == "lmdb's leaves";
    const std::string name = storage.substr(0, storage.find('\''));
    const fs::path packed = made({"pack", "--index", index, "--to", name})["location"].get<std::string>();
    for (const auto& entry : fs::recursive_directory_iterator(packed)) {
      if (!entry.is_regular_file() || entry.file_size() < 8192) continue;
      std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
      const auto size = std::streamoff(entry.file_size());
      if (!pages && !leaves) file.seekp(size / 4) << std::string(size_t(size / 2), '\xff');
      for (const std::streamoff at : {40, 4096 + 40})
        if (pages) file.seekp(at) << std::string(4, '\0');
      for (std::streamoff page = 8192; leaves && page < size; page += 4096)
        if (file.seekg(page + 10).get() == 2) file.seekp(page + 12) << std::string(2, '\0');
    }
    const pid_t pid =
        start_packed({"--set", "storage=" + name, "--set",
                      name == "parquet" ? "order=in_order" : "order=shuffled", "--set", "batch=8"},
                     storage.c_str());
    EXPECT_EQ(exit_code_of(pid), 1) << storage;
    std::ifstream stream(directory / storage / "records.jsonl");
    const json record = json::parse(stream);
    EXPECT_EQ(record["status"], pages || leaves ? "CRASHED" : "INVALID") << storage;
    const std::string reason = record["reason"];
    EXPECT_SAYS(reason, packed.string());
    EXPECT_SAYS(reason, "remove the folder " + packed.string());
    fs::remove_all(packed);
    EXPECT_EQ(left_behind(pid), "");
  }
}

}  // namespace launch_faults_test
