// unit: what goes wrong around a run (closed or full outputs, signals, odd files, size limits) costs no
// record.
#include <sys/stat.h>

#include "tests/support/program.h"

namespace harness::kept_records_test {

using Words = std::vector<std::string>;

class KeptRecords : public Program {
 protected:
  // run_matrix under a shell that first does `before` and gives it these redirections. $0 is the program.
  base::Command in_shell(const std::string& before, const std::string& redirections, const Words& arguments,
                         const std::string& behaviour = "") {
    base::Command inner = command(arguments, {{"FAKE_SLICE", behaviour}, {"RUN_MATRIX_PLOTS", "all"}});
    const Words shell = {"bash", "-c", before + "exec \"$0\" \"$@\" " + redirections};
    inner.arguments.insert(inner.arguments.begin(), shell.begin(), shell.end());
    return inner;
  }
  int run_in_shell(const std::string& before, const std::string& redirections, const Words& arguments) {
    return exit_code_of(start(in_shell(before, redirections, arguments)));
  }
  Words smoke(const std::string& only) {
    return {"--scale", "smoke", "--only", only, "--out", (directory / "run").string()};
  }
  // Starts two rows, of which the second doesn't end, and returns when that one runs.
  pid_t start_endless(const std::string& before = "") {
    const pid_t pid = start(in_shell(before, "", smoke("0,7"), "7=slow"));
    for (int i = 0; i < 300 && errors().find("[1/2] 0 (") == std::string::npos; ++i) wait_ms(50);
    for (int i = 0; i < 300 && !fs::exists(directory / "run/rows/7-repeat0/job.json"); ++i) wait_ms(50);
    wait_ms(300);
    return pid;
  }
  static void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
  void expect_good_records(size_t count) {
    const auto records = records_in("run");  // throws where a line is no JSON
    ASSERT_EQ(records.size(), count);
    for (const json& record : records) EXPECT_EQ(record.at("status"), "OK");
  }
};

TEST_F(KeptRecords, OutputsThatAreClosed) {
  for (const std::string closed : {">&-", "2>&-", "<&- >&- 2>&-"}) {
    fs::remove_all(directory / "run");
    EXPECT_EQ(run_in_shell("", closed, smoke("0,7")), 0) << closed;
    expect_good_records(2);
    EXPECT_EQ(run_in_shell("", closed, {"--resume", directory / "run", "--repeat", "2"}), 0) << closed;
    expect_good_records(4);
  }
}

TEST_F(KeptRecords, OutputsThatAreFull) {
  for (const std::string full : {"2>/dev/full", ">/dev/full 2>/dev/full"}) {
    fs::remove_all(directory / "run");
    EXPECT_EQ(run_in_shell("", full, smoke("0,7")), 0) << full;
    expect_good_records(2);
    EXPECT_TRUE(fs::exists(directory / "run/report.html"));
  }
}

TEST_F(KeptRecords, ATerminalThatIsGone) {
  base::Command inner = command(smoke("0,7"));
  const Words shell = {"bash", "-c", "\"$0\" \"$@\" 2>&1 | true; exit ${PIPESTATUS[0]}"};
  inner.arguments.insert(inner.arguments.begin(), shell.begin(), shell.end());
  EXPECT_EQ(exit_code_of(start(inner)), 0);
  expect_good_records(2);
}

TEST_F(KeptRecords, AHangUpEndsTheRunAsAnInterruptDoes) {
  const pid_t pid = start_endless();
  ::kill(pid, SIGHUP);
  EXPECT_EQ(exit_code_of(pid), 130);
  expect_good_records(1);
  EXPECT_TRUE(fs::exists(directory / "run/table.md"));
}

TEST_F(KeptRecords, NohupKeepsTheRunGoing) {
  const pid_t pid = start_endless("trap '' HUP; ");
  ::kill(pid, SIGHUP);
  wait_ms(500);
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0) << "it has ended";
  ::kill(pid, SIGTERM);
  EXPECT_EQ(exit_code_of(pid), 130);
}

TEST_F(KeptRecords, AnInterruptLeavesTheReportWhole) {
  if (!fs::exists(SOURCE_DIR "/.venv/bin/python")) GTEST_SKIP() << "no plot renderer: .venv is missing";
  const pid_t pid = start_endless();
  ::kill(-pid, SIGINT);  // as a terminal sends it: to the process group
  EXPECT_EQ(exit_code_of(pid), 130);
  expect_good_records(1);
  for (const char* file : {"table.md", "report.html", "plots/phases.svg", "plots/phases.png"})
    EXPECT_TRUE(fs::exists(directory / "run" / file)) << file;
  for (const char* wrong : {"KeyboardInterrupt", "renderer is missing", "not rendered"})
    EXPECT_EQ((output() + errors()).find(wrong), std::string::npos) << wrong;
}

TEST_F(KeptRecords, ASecondInterruptEndsTheReport) {
  if (!fs::exists(SOURCE_DIR "/.venv/bin/python")) GTEST_SKIP() << "no plot renderer: .venv is missing";
  const pid_t pid = start_endless();
  ::kill(pid, SIGINT);
  for (int i = 0; i < 400 && !fs::exists(directory / "run/plots"); ++i) wait_ms(5);
  ::kill(pid, SIGINT);
  EXPECT_EQ(exit_code_of(pid), 130);
  expect_good_records(1);
  EXPECT_FALSE(fs::exists(directory / "run/report.html"));
  EXPECT_SAYS((output() + errors()), "second interrupt");
  EXPECT_EQ(errors().find("Traceback"), std::string::npos) << errors();
}

TEST_F(KeptRecords, AFolderWhoseRunWasKilledAsItBeganIsTakenAgain) {
  fs::create_directories(directory / "run");
  std::ofstream(directory / "run/records.jsonl");
  for (const char* name : {"request.json.12-0.partial", "mine.partial"})
    std::ofstream(directory / "run" / name) << "{";
  EXPECT_EQ(run({"--resume", directory / "run"}), 2);
  EXPECT_SAYS(errors(), "nothing ran there yet");
  ASSERT_EQ(run(smoke("0")), 0) << errors();
  expect_good_records(1);
  EXPECT_FALSE(fs::exists(directory / "run/request.json.12-0.partial"));
  EXPECT_TRUE(fs::exists(directory / "run/mine.partial")) << "not of this program";
  EXPECT_EQ(run(smoke("0")), 2) << "it holds a run now";
}

TEST_F(KeptRecords, NamedPipesAreNotWaitedFor) {
  ASSERT_EQ(run(smoke("0")), 0);
  const fs::path request = directory / "run/request.json", records = directory / "run/records.jsonl";
  fs::rename(request, directory / "request.kept");
  ASSERT_EQ(::mkfifo(request.c_str(), 0600), 0);
  const std::string limited = "exec timeout 20 \"$0\" \"$@\"; ";
  EXPECT_EQ(run_in_shell(limited, "", {"--resume", directory / "run"}), 2);
  EXPECT_SAYS(errors(), "named pipe");
  fs::remove(request);
  fs::rename(directory / "request.kept", request);
  fs::remove(records);
  ASSERT_EQ(::mkfifo(records.c_str(), 0600), 0);
  for (const Words& words : {Words{"report", directory / "run"}, Words{"--resume", directory / "run"}}) {
    EXPECT_EQ(run_in_shell(limited, "", words), 2);
    EXPECT_SAYS(errors(), "named pipe");
  }
}

TEST_F(KeptRecords, ARecordNestedWithoutEndCostsItsLine) {
  ASSERT_EQ(run(smoke("0")), 0);
  const std::string deep = std::string(300000, '[') + std::string(300000, ']');
  std::ofstream(directory / "run/records.jsonl", std::ios::app)
      << "{\"schema\": 1, \"row\": \"7\", \"config\": " << deep << "}\n";
  EXPECT_EQ(run({"report", directory / "run"}), 0);
  EXPECT_SAYS(errors(), "records.jsonl:2: not JSON, or nested too deep");
  std::ofstream(directory / "run/request.json") << deep;
  EXPECT_EQ(run({"--resume", directory / "run"}), 2);
  EXPECT_SAYS(errors(), "nested deeper");
}

TEST_F(KeptRecords, AFileSizeLimitLeavesNoHalfFile) {
  ASSERT_EQ(run(smoke("0")), 0);
  const auto size_kib = fs::file_size(directory / "run/report.html") / 1024;
  ASSERT_GT(size_kib, 100u);
  fs::remove(directory / "run/report.html");
  const std::string limit = "ulimit -f " + std::to_string(size_kib - 10) + "; ";
  EXPECT_EQ(run_in_shell(limit, "", {"report", directory / "run"}), 2);
  EXPECT_FALSE(fs::exists(directory / "run/report.html"));
  EXPECT_SAYS(errors(), "report.html: File too large");
  expect_good_records(1);
}

// A file system of the run's own, full but for `free` bytes.
class FullDisk : public KeptRecords {
 protected:
  void SetUp() override {
    KeptRecords::SetUp();
    disk = directory / "disk";
    fs::create_directories(disk);
    if (::system(("mount -t tmpfs -o size=4m none " + disk.string() + " 2> /dev/null").c_str()) != 0)
      GTEST_SKIP() << "mounting a file system takes root";
    mounted = true;
  }
  void TearDown() override {
    if (mounted) (void)!::system(("umount " + disk.string()).c_str());
    KeptRecords::TearDown();
  }
  void fill() {
    (void)!::system(("cat /dev/zero > " + (disk / "ballast").string() + " 2> /dev/null").c_str());
  }

  fs::path disk;
  bool mounted = false;
};

TEST_F(FullDisk, ARunStaysOneThatCanBeContinued) {
  ASSERT_EQ(run({"--scale", "smoke", "--only", "0", "--out", disk / "run"}), 0);
  const std::string before = content_of(disk / "run/request.json");
  fill();
  EXPECT_NE(run({"--resume", disk / "run", "--repeat", "2"}), 0);
  EXPECT_EQ(content_of(disk / "run/request.json"), before);
  fs::remove(disk / "ballast");
  EXPECT_EQ(run({"--resume", disk / "run", "--repeat", "2"}), 0);
}

}  // namespace harness::kept_records_test
