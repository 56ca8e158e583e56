// net: what goes wrong while a row's processes start, and full disks: each case ends the row with the right
// status and the reason, and leaves no process, no namespace and no folder behind.
#include "harness/base/listener.h"
#include "harness/launch/launcher.h"
#include "tests/support/launch_faults.h"

namespace start_faults_test {

using namespace launch_faults;

TEST_F(LaunchFaults, APortThatIsTaken) {
  const base::Listener taken(0, false);
  const pid_t pid = start_matrix("12", {"--set", "backend=gloo", "--port", std::to_string(taken.port())});
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  EXPECT_SAYS(record()["reason"].get<std::string>(), "--port");
}

TEST_F(LaunchFaults, AHostThatDoesNotResolve) {
  const pid_t pid = start_matrix("12", {"--hosts", "no-such-host.invalid:4", "--set", "storage=synthetic"});
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  EXPECT_SAYS(record()["reason"].get<std::string>(), "no-such-host");
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(LaunchFaults, AHostThatDoesNotResolveIsNamedInOneLine) {
  EXPECT_EQ(exit_code_of(start_matrix("12", {"--hosts", "no-such-host.invalid:4"})), 2);
  const std::string errors = content_of(directory / "err");
  EXPECT_SAYS(errors, "could not be prepared on every node: ssh: Could not resolve hostname no-such-host");
  EXPECT_EQ(errors.find("-----"), std::string::npos) << "OpenMPI's page";
}

TEST_F(LaunchFaults, AMasterThatDoesNotResolve) {
  ASSERT_EQ(exit_code_of(start_matrix("12", {"--set", "backend=gloo"})), 0);
  base::Command rank;
  rank.arguments = {BINARY_DIR "/train_slice", "--job", directory / "run/rows/12-repeat0/job.json"};
  rank.environment = {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "no-such-host.invalid"}};
  rank.errors_to_output = true;
  const auto finished = base::run_to_end(rank);
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_SAYS(finished.output, "no-such-host.invalid");
}

TEST_F(LaunchFaults, RanksThatDisagreeAboutTheConfiguration) {
  ASSERT_EQ(exit_code_of(start_matrix(
                "12", {"--set", "backend=gloo", "--set", "devices=2", "--set", "storage=synthetic"})),
            0);
  const fs::path folder = directory / "run/rows/12-repeat0";
  json job = json::parse(content_of(folder / "job.json"));
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
  const json error = json::parse(content_of(folder / "rank-0.error.json"));
  EXPECT_EQ(error["status"], "INVALID");
  EXPECT_SAYS(error["reason"].get<std::string>(), "disagree");
  ::kill(ranks[1], SIGKILL);
  exit_code_of(ranks[1]);
}

TEST_F(LaunchFaults, ACrashUnderAnotherLauncherShowsWhere) {
  const Words words =
      matrix("0", {"--launcher", "env", "--set", "storage=synthetic", "--set", "timed_batches=100000"});
  const pid_t pid = start_marked(words, {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}});
  row_folder = directory / "run/rows/0-repeat0";
  ::kill(training_rank(0), SIGSEGV);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  const std::string reason = record()["reason"];
  EXPECT_SAYS(reason, "train_slice(") << ": its stack's innermost frame";
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
  const fs::path worker = directory / "worker";  // train_slice, but for the ranks of row 12
  std::ofstream(worker) << "#!/bin/sh\ncase \"$2\" in\n*/12-repeat0/*)\n"
                        << "exec setpriv --pdeathsig clear setsid sh -c 'sleep 1103; exec true'\nesac\nexec "
                        << BINARY_DIR "/train_slice \"$@\"\n";
  fs::permissions(worker, fs::perms::owner_all);
  const fs::path seen = directory / "seen";
  std::ofstream(directory / "look") << "#!/bin/sh\necho looked $(pgrep -f 'sleep 110[3]') >> "
                                    << seen.string() << "\nexec \"$@\"\n";
  fs::permissions(directory / "look", fs::perms::owner_all);
  const pid_t pid =
      start_marked(matrix("12,13", {"--wrap", directory / "look", "--set", "storage=synthetic"}),
                   {{"RUN_MATRIX_WORKER", worker}});
  const std::string mark = "LAUNCH_FAULTS=" + directory.string();
  const auto has_begun = [&] {  // a rank sleeps, and rank 0 has looked, which it must not do later
    return process_named("sleep", mark) != 0 && !content_of(seen).empty();
  };
  for (int i = 0; i < 600 && !has_begun(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const pid_t mpirun = process_named("mpirun", mark);
  ASSERT_NE(mpirun, 0);
  fs::remove(seen);
  ::kill(mpirun, SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(content_of(seen), "looked\n") << "the next row ran at the same time";
  EXPECT_EQ(left_behind(pid), "");
}

// Without a run_matrix, which would wait for half a minute before it takes slow ranks for hung ones.
TEST_F(LaunchFaults, RanksThatStopBeforeTheirFirstBatch) {
  const Words rank = {"sh", "-c", "kill -STOP $$"};
  Words mpirun = {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"};
  mpirun.insert(mpirun.end(), rank.begin(), rank.end());
  for (const Words& words : {rank, mpirun}) {
    const bool alone = words == rank;
    harness::Progress progress(directory / "progress", alone ? 1 : 2);
    const harness::Outcome outcome = harness::run_ranks(
        {"local", {{words, {{"LAUNCH_FAULTS", directory}}, {}, directory / "out", directory / "err"}}, alone},
        progress, {.start_s = 1}, directory, [] {});
    EXPECT_EQ(outcome.status, "HUNG") << outcome.reason;
    EXPECT_LT(outcome.wall_s, 20);
    EXPECT_EQ(left_behind(::getpid()), "");
  }
}

// With too little shared memory, mpirun sometimes deadlocks after this message, and its ranks wait for ever.
TEST_F(LaunchFaults, AnMpirunThatDeadlocksForWantOfMemory) {
  const Words mpirun = {"sh", "-c", "echo '[vm:1] PMIX ERROR: OUT-OF-RESOURCE in file x.c' >&2; sleep 1103"};
  harness::Progress progress(directory / "progress", 2);
  const harness::Outcome outcome = harness::run_ranks(
      {"local", {{mpirun, {{"LAUNCH_FAULTS", directory}}, {}, directory / "out", directory / "err"}}, false},
      progress, {.start_s = 100}, directory, [] {});
  EXPECT_EQ(outcome.status, "CRASHED");
  EXPECT_SAYS(outcome.reason, "/dev/shm is too small");
  EXPECT_LT(outcome.wall_s, 30);
  EXPECT_EQ(left_behind(::getpid()), "");
}

TEST_F(LaunchFaults, AnMpirunThatFailsIsNamedAndNotWhatBringsItToItsNode) {
  const Words words = {"setpriv", "--pdeathsig", "KILL", "mpirun", "--no-such-option"};
  harness::Progress progress(directory / "progress", 2);
  const harness::Outcome outcome =
      harness::run_ranks({"local", {{words, {}, {}, directory / "out", directory / "err"}}, false}, progress,
                         {}, directory, [] {});
  EXPECT_EQ(outcome.status, "CRASHED");
  EXPECT_TRUE(outcome.reason.starts_with("mpirun: exit code ")) << outcome.reason;
}

TEST_F(LaunchFaults, AFullDiskIsNamedByTheRowThatMetIt) {
  const fs::path disk = directory / "run";
  fs::create_directories(disk);
  if (::system(("mount -t tmpfs -o size=96k none " + disk.string() + " 2> /dev/null").c_str()) != 0)
    GTEST_SKIP() << "mounting a file system takes root";
  const pid_t pid = start_matrix("0", {"--set", "storage=synthetic", "--set", "timed_batches=900"});
  EXPECT_EQ(exit_code_of(pid), 1);
  const std::string said = content_of(directory / "err");
  const json row = record();
  EXPECT_EQ(row["status"], "CRASHED") << said;
  const std::string reason = row["reason"];
  for (const char* word : {"slice.jsonl", "No space left on device", "free some space"})
    EXPECT_SAYS(reason, word);
}

TEST_F(LaunchFaults, AFullMemoryFileSystemEndsTheRowSoonWithTheReason) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a separate /dev/shm needs root";
  for (const std::string size : {"64k", "4m"}) {
    fs::remove_all(directory / "run");
    const auto begin = std::chrono::steady_clock::now();
    Words words = {"unshare", "--mount", "sh", "-c",
                   "mount -t tmpfs -o size=" + size + " none /dev/shm && exec \"$0\" \"$@\""};
    for (const std::string& word : matrix("12", {"--set", "storage=synthetic"})) words.push_back(word);
    const pid_t pid = start_marked(words);
    EXPECT_EQ(exit_code_of(pid), 1);
    EXPECT_EQ(record()["status"], "CRASHED") << size;
    const std::string reason = record()["reason"];
    EXPECT_SAYS(reason, "/dev/shm");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << size;
    EXPECT_EQ(left_behind(pid), "");
  }
}

}  // namespace start_faults_test
