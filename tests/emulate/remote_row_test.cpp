// net: rows whose images come from an object store: what the record says of it, its shaped link, and how they
// end when it does; no process, mount, namespace or folder is left behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/emulate/mount.h"
#include "harness/emulate/object_store.h"
#include "harness/emulate/two_nodes.h"
#include "tests/support/failure_of.h"
#include "tests/support/outcome.h"
#include "tests/support/scratch_of.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/until_it_trains.h"

namespace remote_row_test {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

class RemoteRow : public testing::Test {
 protected:
  void SetUp() override {
    if (!harness::why_no_object_store().empty()) GTEST_SKIP() << harness::why_no_object_store();
  }
  void TearDown() override {
    if (HasFailure()) std::cerr << content_of(directory / "out") << content_of(directory / "err");
  }

  pid_t start_matrix(const std::string& only, const Words& settings, const char* run = "run",
                     Words words = {}) {
    const Words program = {
        BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--only", only, "--out",
        directory / run};
    words.insert(words.end(), program.begin(), program.end());
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return base::start({words,
                        {{"REMOTE_ROW", directory}, {"RUN_MATRIX_PLOTS", "specs"}},
                        {},
                        directory / "out",
                        directory / "err"});
  }
  // The record of a row that ran to its end.
  json record_of(const std::string& only, const Words& settings, int exit_code = 0) {
    fs::remove_all(directory / "run");
    const pid_t pid = start_matrix(only, settings);
    EXPECT_EQ(exit_code_of(pid), exit_code);
    EXPECT_EQ(left_behind(pid), "");
    return record();
  }
  json record() {
    std::ifstream stream(directory / "run" / "records.jsonl");
    std::string line;
    std::getline(stream, line);
    return json::parse(line, nullptr, false);
  }
  void until_it_trains(pid_t run_matrix) const {
    wait_until_it_trains(run_matrix, directory / "run/rows/0-repeat0");
  }
  static pid_t process_with(const std::string& program, const fs::path& scratch) {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string line = content_of(entry.path() / "cmdline");
      if (line.find(program) == 0 && line.find(scratch.string()) != std::string::npos)
        return std::stoi(entry.path().filename());
    }
    return 0;
  }
  // All processes and files that a run_matrix of this test created, if they outlive it by more than five
  // seconds. Namespaces exist as long as their processes.
  std::string left_behind(pid_t run_matrix) {
    const std::string mark = "REMOTE_ROW=" + directory.string(), scratch = scratch_prefix(run_matrix);
    std::string left;
    for (int i = 0; i < 50; ++i) {
      left.clear();
      std::error_code error;
      for (const auto& entry : fs::directory_iterator("/proc", error))
        if (content_of(entry.path() / "environ").find(mark) != std::string::npos ||
            content_of(entry.path() / "cmdline").find(scratch) != std::string::npos)
          left += content_of(entry.path() / "cmdline") + '\n';
      left += scratch_of(run_matrix).string();
      if (content_of("/proc/self/mounts").find(scratch) != std::string::npos)
        left += "mount below " + scratch + '\n';
      for (const auto& entry : fs::directory_iterator(SOURCE_DIR "/data/packed", error))
        if (const std::string name = entry.path().filename();
            name.find("remote-cache-") == 0 &&
            name.find("-" + std::to_string(run_matrix)) != std::string::npos)
          left += entry.path().string() + '\n';
      if (left.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return left;
  }
  static void expect_store(const json& record, const std::string& storage) {
    ASSERT_EQ(record["status"], "OK") << record["reason"];
    EXPECT_EQ(record["cache"]["storage_used"], storage);
    EXPECT_EQ(record["object_store"]["server"].get<std::string>().find("nginx/"), 0u);
    EXPECT_EQ(record["object_store"].contains("mount"), storage != "remote");
    EXPECT_EQ(record["bad_images"], 0);
    EXPECT_SAYS(record["emulated"].dump(), "object store");
  }

  const TemporaryFolder folder;
  const fs::path directory = folder;
};

TEST_F(RemoteRow, OverTheLoopbackInterface) {
  const json record = record_of("0", {"storage=remote"});
  expect_store(record, "remote");
  EXPECT_EQ(record["object_store"]["link"], "loopback");
  EXPECT_GE(record["cache"]["server_bytes"], record["cache"]["encoded_bytes"]);
}

TEST_F(RemoteRow, ThroughAMountWithAndWithoutItsCache) {
  if (!harness::why_no_mount().empty()) GTEST_SKIP() << harness::why_no_mount();
  const json mounted = record_of("0", {"storage=remote_mounted"});
  expect_store(mounted, "remote_mounted");
  EXPECT_EQ(mounted["cache"]["state"], "none");
  EXPECT_GE(mounted["cache"]["server_bytes"], mounted["cache"]["encoded_bytes"]);
  for (const char* state : {"cold", "warm"}) {
    const json cached = record_of("0", {"storage=remote_cached", std::string("cache=") + state});
    expect_store(cached, "remote_cached");
    EXPECT_EQ(cached["cache"]["state"], state);
    EXPECT_GT(cached["object_store"]["cache_bytes"], 0);
    EXPECT_LE(cached["object_store"]["cache_bytes"], cached["object_store"]["cache_limit_bytes"]);
    EXPECT_GT(cached["ceilings"]["compute_ms"], 0.0);
    EXPECT_EQ(cached["ceilings"].contains("loader_ms"), state == std::string("warm"))
        << "an emptied cache can't be had twice";
  }
}

class ShapedRow : public RemoteRow {
 protected:
  void SetUp() override {
    RemoteRow::SetUp();
    if (!IsSkipped() && !harness::why_no_two_nodes().empty()) GTEST_SKIP() << harness::why_no_two_nodes();
  }
};

TEST_F(ShapedRow, TheBytesCrossTheLinkAtItsRate) {
  const json record = record_of("0", {"storage=remote", "store_rate_mbit=40"});
  expect_store(record, "remote");
  EXPECT_EQ(record["object_store"]["link"], "veth");
  EXPECT_GE(record["object_store"]["received_bytes"], record["cache"]["server_bytes"]);
  const double bits = 8 * record["cache"]["encoded_bytes"].get<double>(), burst_bits = 8 * 256e3;
  EXPECT_GE(record["wall_s"].get<double>(), (bits - burst_bits) / 40e6);
}

// As for other users than root: nginx can't give a folder to `nobody` there.
TEST_F(ShapedRow, WorksInAUserNamespace) {
  if (::system("unshare --user --map-root-user --net --mount true 2> /dev/null") != 0)
    GTEST_SKIP() << "this kernel allows no user namespace";
  EXPECT_EQ(exit_code_of(start_matrix("0", {"storage=remote", "store_rate_mbit=1000"}, "run",
                                      {"unshare", "--user", "--map-root-user", "--mount"})),
            0);
  std::ifstream stream(directory / "run" / "records.jsonl");
  const json record = json::parse(stream, nullptr, false);
  EXPECT_EQ(record["status"], "OK") << record["reason"];
}

TEST_F(ShapedRow, MountsAreAtItsNearEnd) {
  if (!harness::why_no_mount().empty()) GTEST_SKIP() << harness::why_no_mount();
  for (const char* storage : {"remote_mounted", "remote_cached"}) {
    const json record = record_of("0", {std::string("storage=") + storage, "store_rate_mbit=1000"});
    expect_store(record, storage);
    EXPECT_GE(record["object_store"]["received_bytes"], record["cache"]["server_bytes"]);
  }
}

TEST_F(ShapedRow, RanksOfEveryBackendAreAtItsNearEnd) {
  for (const char* backend : {"mpi", "gloo"}) {
    const json record =
        record_of("12", {"storage=remote", "store_rate_mbit=1000", std::string("backend=") + backend});
    expect_store(record, "remote");
    EXPECT_EQ(record["rank_map"].size(), 4u);
  }
}

TEST_F(ShapedRow, LatencyIsThereOrTheRowSaysWhyNot) {
  const bool can = harness::why_no_latency().empty();
  const json record = record_of("0", {"storage=remote", "store_latency_ms=20"}, can ? 0 : 3);
  EXPECT_EQ(record["status"], can ? "OK" : "SKIPPED");
  if (!can) {
    EXPECT_SAYS(record["reason"].get<std::string>(), "sch_netem");
  }
}

TEST_F(RemoteRow, AServerThatIsKilledIsNamed) {
  const pid_t pid = start_matrix("0", {"storage=remote", "timed_batches=100000"});
  until_it_trains(pid);
  ::kill(process_with("nginx", scratch_of(pid)), SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 1);
  EXPECT_EQ(record()["status"], "CRASHED");
  const std::string reason = record()["reason"];
  EXPECT_SAYS(reason, "nginx");
  EXPECT_SAYS(reason, "signal 9");
  EXPECT_FALSE(record().contains("total_s"));
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(RemoteRow, SoIsAMount) {
  if (!harness::why_no_mount().empty()) GTEST_SKIP() << harness::why_no_mount();
  const pid_t pid = start_matrix("0", {"storage=remote_mounted", "timed_batches=100000"});
  until_it_trains(pid);
  ::kill(process_with("rclone", scratch_of(pid)), SIGKILL);
  EXPECT_EQ(exit_code_of(pid), 1);
  const std::string reason = record()["reason"];
  EXPECT_SAYS(reason, "rclone");
  EXPECT_EQ(left_behind(pid), "");
}

TEST_F(ShapedRow, AnInterruptAndAKillLeaveNothing) {
  if (!harness::why_no_mount().empty()) GTEST_SKIP() << harness::why_no_mount();
  for (const int signal : {SIGINT, SIGKILL}) {
    fs::remove_all(directory / "run");
    const pid_t pid =
        start_matrix("0", {"storage=remote_cached", "store_rate_mbit=1000", "timed_batches=100000"});
    until_it_trains(pid);
    EXPECT_NE(process_with("rclone", scratch_of(pid)), 0);
    ::kill(pid, signal);
    exit_code_of(pid);
    if (signal == SIGKILL) {  // folders stay until the next run
      EXPECT_EQ(exit_code_of(start_matrix("0", {"storage=remote_cached"}, "next")), 0);
    }
    EXPECT_EQ(left_behind(pid), "");
  }
}

TEST_F(RemoteRow, OnlyALinkToAnObjectStoreCanBeShaped) {
  EXPECT_EQ(exit_code_of(start_matrix("0", {"storage=files", "store_rate_mbit=100"})), 2);
  EXPECT_SAYS(content_of(directory / "err"), "storage: remote");
}

TEST_F(RemoteRow, SeveralNodesAreSkipped) {
  const json record = record_of("17", {"storage=remote"}, 3);
  EXPECT_EQ(record["status"], "SKIPPED");
  EXPECT_SAYS(record["reason"].get<std::string>(), "one node");
}

}  // namespace remote_row_test
