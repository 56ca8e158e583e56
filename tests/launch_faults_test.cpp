// net: what goes wrong while a row's processes start or run: each case ends the row with the right status and
// the reason, and leaves no process, no namespace and no folder behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/base/listener.h"
#include "harness/contract/progress.h"
#include "harness/emulate/two_nodes.h"
#include "scratch_of.h"

namespace launch_faults_test {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

class LaunchFaults : public testing::Test {
 protected:
  void SetUp() override {
    directory = fs::temp_directory_path() / ("faults_" + std::to_string(::getpid()));
    fs::remove_all(directory);
    fs::create_directories(directory);
  }
  void TearDown() override {
    if (HasFailure()) std::cerr << text(directory / "out") << text(directory / "err");
    (void)!::system(("umount " + (directory / "run").string() + " 2> /dev/null").c_str());  // of one test
    fs::remove_all(directory);
  }
  static std::string text(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  pid_t start_matrix(const std::string& only, const Words& more, const char* run = "run") {
    Words words = {
        BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--slow", "--only", only, "--out",
        directory / run};
    words.insert(words.end(), more.begin(), more.end());
    return base::start({words,
                        {{"LAUNCH_FAULTS", directory}, {"RUN_MATRIX_PLOTS", "specs"}},
                        {},
                        directory / "out",
                        directory / "err"});
  }
  // Long enough to be interrupted, and without files.
  pid_t start_long(const std::string& only, Words more = {}) {
    more.insert(more.end(), {"--set", "storage=synthetic", "--set", "timed_batches=100000"});
    const pid_t pid = start_matrix(only, more);
    row_folder = directory / "run" / "rows" / (only + "-repeat0");
    return pid;
  }
  static int exit_code_of(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // The process of a rank, once all ranks train.
  pid_t training_rank(int rank) {
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::error_code missing;
      if (fs::file_size(row_folder / "progress", missing) == 0 || missing) continue;
      harness::Progress progress(row_folder / "progress", 0);
      bool all = true;
      for (int other = 0; other < progress.ranks(); ++other) all = all && progress.slot(other).batches > 2;
      if (all) return harness::pid_here(progress.slot(rank));
    }
    throw std::runtime_error("the ranks never trained");
  }
  json record() {
    std::ifstream stream(directory / "run" / "records.jsonl");
    std::string line;
    std::getline(stream, line);
    return json::parse(line, nullptr, false);
  }
  // Lists all processes that a run_matrix of this test started (including holders of namespaces), and its
  // scratch folder, if they outlive it by more than five seconds. A network namespace exists as long as its
  // processes.
  std::string left_behind(pid_t run_matrix) {
    const std::string mark = "LAUNCH_FAULTS=" + directory.string();
    std::string left;
    for (int i = 0; i < 50; ++i) {
      left.clear();
      std::error_code error;
      for (const auto& entry : fs::directory_iterator("/proc", error))
        if (text(entry.path() / "environ").find(mark) != std::string::npos)
          left += text(entry.path() / "cmdline") + '\n';
      if (const fs::path scratch = scratch_of(run_matrix); !scratch.empty()) left += scratch.string() + '\n';
      if (left.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::replace(left.begin(), left.end(), '\0', ' ');
    return left;
  }

  fs::path directory, row_folder;
};

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
  EXPECT_NE(reason.find("rank 2"), std::string::npos) << reason;
  EXPECT_NE(reason.find("signal 9"), std::string::npos) << reason;
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
  EXPECT_NE(record()["stacks"][0].get<std::string>().find("train_slice"), std::string::npos)
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
  EXPECT_NE(record()["reason"].get<std::string>().find("rank 6"), std::string::npos) << record()["reason"];
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

TEST_F(LaunchFaults, APortThatIsTaken) {
  const base::Listener taken(0, false);
  const pid_t pid = start_matrix("12", {"--set", "backend=gloo", "--port", std::to_string(taken.port())});
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  EXPECT_NE(record()["reason"].get<std::string>().find("--port"), std::string::npos) << record()["reason"];
}

TEST_F(LaunchFaults, AHostThatDoesNotResolve) {
  const pid_t pid = start_matrix("12", {"--hosts", "no-such-host.invalid:4", "--set", "storage=synthetic"});
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  EXPECT_NE(record()["reason"].get<std::string>().find("no-such-host"), std::string::npos)
      << record()["reason"];
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(LaunchFaults, AMasterThatDoesNotResolve) {
  ASSERT_EQ(exit_code_of(start_matrix("12", {"--set", "backend=gloo"})), 0);
  base::Command rank;
  rank.arguments = {BINARY_DIR "/train_slice", "--job", directory / "run/rows/12-repeat0/job.json"};
  rank.environment = {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "no-such-host.invalid"}};
  rank.errors_to_output = true;
  const auto finished = base::run_to_end(rank);
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_NE(finished.output.find("no-such-host.invalid"), std::string::npos) << finished.output;
}

TEST_F(LaunchFaults, RanksThatDisagreeAboutTheConfiguration) {
  ASSERT_EQ(exit_code_of(start_matrix(
                "12", {"--set", "backend=gloo", "--set", "devices=2", "--set", "storage=synthetic"})),
            0);
  const fs::path folder = directory / "run/rows/12-repeat0";
  json job = json::parse(text(folder / "job.json"));
  job["row"]["learning_rate"] = 0.7;
  std::ofstream(folder / "other.json") << job;
  const base::Listener listener(0, false);
  std::vector<pid_t> ranks;
  for (int rank : {0, 1}) {
    base::Command command;
    command.arguments = {BINARY_DIR "/train_slice", "--job",
                         folder / (rank == 0 ? "job.json" : "other.json")};
    command.environment = {{"RANK", std::to_string(rank)},
                           {"WORLD_SIZE", "2"},
                           {"MASTER_PORT", std::to_string(listener.port())}};
    if (rank == 0) {
      command.environment["MASTER_LISTEN_FD"] = std::to_string(listener.fd());
      command.passed_fd = listener.fd();
    }
    command.output = directory / "out";
    command.errors = directory / "err";
    ranks.push_back(base::start(command));
  }
  EXPECT_EQ(exit_code_of(ranks[0]), 1);
  const json error = json::parse(text(folder / "rank-0.error.json"));
  EXPECT_EQ(error["status"], "INVALID");
  EXPECT_NE(error["reason"].get<std::string>().find("disagree"), std::string::npos) << error;
  ::kill(ranks[1], SIGKILL);
  exit_code_of(ranks[1]);
}

// The worker is a script that does `before` for the ranks of row 12 and is train_slice for all else.
std::map<std::string, std::string> slow_worker(const fs::path& directory, const std::string& before) {
  const fs::path script = directory / "worker";
  std::ofstream(script) << "#!/bin/sh\ncase \"$2\" in\n*/12-repeat0/*)\n"
                        << before << "\nesac\nexec " << BINARY_DIR "/train_slice \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  return {{"RUN_MATRIX_WORKER", script}, {"LAUNCH_FAULTS", directory}};
}

pid_t process_named(const std::string& name, const std::string& mark) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    std::ifstream comm(entry.path() / "comm"), environ(entry.path() / "environ");
    std::string its;
    std::getline(comm, its);
    const std::string variables(std::istreambuf_iterator<char>(environ), {});
    if (its == name && variables.find(mark) != std::string::npos) return std::stoi(entry.path().filename());
  }
  return 0;
}

TEST_F(LaunchFaults, NoRowStartsWhileProcessesOfAnEarlierOneRun) {
  // Ranks that are still starting and don't end with mpirun: for eighteen minutes.
  const auto environment =
      slow_worker(directory, "exec setpriv --pdeathsig clear setsid sh -c 'sleep 1103; exec true'");
  const fs::path seen = directory / "seen";
  std::ofstream(directory / "look") << "#!/bin/sh\necho looked $(pgrep -f 'sleep 110[3]') >> "
                                    << seen.string() << "\nexec \"$@\"\n";
  fs::permissions(directory / "look", fs::perms::owner_all);
  const pid_t pid =
      base::start({{BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--only", "12,13",
                    "--wrap", directory / "look", "--set", "storage=synthetic", "--out", directory / "run"},
                   environment,
                   {},
                   directory / "out",
                   directory / "err"});
  const std::string mark = "LAUNCH_FAULTS=" + directory.string();
  pid_t mpirun = 0;
  for (int i = 0; i < 600 && process_named("sleep", mark) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  mpirun = process_named("mpirun", mark);
  ASSERT_NE(mpirun, 0);
  fs::remove(seen);
  ::kill(mpirun, SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(text(seen), "looked\n") << "the next row ran at the same time";
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(LaunchFaults, ARankThatStopsBeforeItsFirstBatch) {
  const auto begin = std::chrono::steady_clock::now();
  const auto environment = slow_worker(directory, "kill -STOP $$");
  const pid_t pid =
      base::start({{BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--only", "12",
                    "--hang-after", "3", "--set", "storage=synthetic", "--out", directory / "run"},
                   environment,
                   {},
                   directory / "out",
                   directory / "err"});
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "HUNG") << record()["reason"];
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(LaunchFaults, AFullDiskIsNamedByTheRowThatMetIt) {
  const fs::path disk = directory / "run";
  fs::create_directories(disk);
  if (::system(("mount -t tmpfs -o size=96k none " + disk.string() + " 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "mounting a file system takes root";
  const pid_t pid = start_matrix("0", {"--set", "storage=synthetic", "--set", "timed_batches=900"});
  EXPECT_EQ(exit_code_of(pid), 1);
  const std::string said = text(directory / "err");
  const json row = record();
  EXPECT_EQ(row["status"], "CRASHED") << said;
  const std::string reason = row["reason"];
  for (const char* word : {"slice.json", "No space left on device", "free some space"})
    EXPECT_NE(reason.find(word), std::string::npos) << reason;
}

TEST_F(LaunchFaults, AFullMemoryFileSystemEndsTheRowSoonWithTheReason) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a separate /dev/shm needs root";
  for (const std::string size : {"64k", "4m"}) {
    fs::remove_all(directory / "run");
    const auto begin = std::chrono::steady_clock::now();
    const pid_t pid = base::start({{"unshare", "--mount", "sh", "-c",
                                    "mount -t tmpfs -o size=" + size + " none /dev/shm && exec \"$0\" \"$@\"",
                                    BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--only",
                                    "12", "--set", "storage=synthetic", "--out", directory / "run"},
                                   {{"LAUNCH_FAULTS", directory}},
                                   {},
                                   directory / "out",
                                   directory / "err"});
    EXPECT_EQ(exit_code_of(pid), 1);
    EXPECT_EQ(record()["status"], "CRASHED") << size;
    const std::string reason = record()["reason"];
    EXPECT_NE(reason.find("/dev/shm"), std::string::npos) << reason;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << size;
    EXPECT_EQ(left_behind(pid), "");
  }
}

}  // namespace launch_faults_test
