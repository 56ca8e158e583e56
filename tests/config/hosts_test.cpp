// net: rows through mpirun and real ssh on two hosts: network namespaces, each with an sshd of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/config/emulated_nodes.h"
#include "harness/emulate/two_nodes.h"
#include "tests/support/temporary_folder.h"

namespace harness::hosts_test {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

class Hosts : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "an sshd takes root";
    if (!why_no_two_nodes().empty()) GTEST_SKIP() << why_no_two_nodes();
    if (!fs::exists(kSshd)) GTEST_SKIP() << "no sshd: apt-get install openssh-server";
    if (!base::program_exists("mpirun")) GTEST_SKIP() << "no mpirun: apt-get install openmpi-bin";
    nodes_.emplace(0);
    fs::create_directories("/run/sshd");
    const std::string key = directory_ / "key";
    run_in(0, {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key});
    std::ofstream(directory_ / "ssh") << "IdentityFile " << key
                                      << "\nUserKnownHostsFile /dev/null\nStrictHostKeyChecking no\n"
                                         "LogLevel ERROR\nBatchMode yes\n";
    std::ofstream(directory_ / "sshd")
        << "HostKey " << key << "\nAuthorizedKeysFile " << key
        << ".pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n";
    for (const int node : {0, 1}) base::start(in(node, {kSshd, "-D", "-f", directory_ / "sshd"}));
    for (const int node : {0, 1}) {
      int code = 1;
      for (int i = 0; i < 100 && code != 0; ++i) {
        code = run_in(0, {"ssh", "-F", directory_ / "ssh", emulated::address(node), "true"});
        if (code != 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      ASSERT_EQ(code, 0) << "no ssh to " << emulated::address(node);
    }
  }
  base::Command in(int node, const Words& words) {
    base::Command command;
    command.arguments = nodes_->enter(node);
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment = {{"OMPI_MCA_plm_rsh_agent", "ssh -F " + (directory_ / "ssh").string()},
                           {"RUN_MATRIX_PLOTS", "specs"}};
    command.errors = directory_ / "errors";
    return command;
  }
  int run_in(int node, const Words& words) { return base::run_to_end(in(node, words)).exit_code; }

  static constexpr const char* kSshd = "/usr/sbin/sshd";
  const TemporaryFolder directory_;
  std::optional<TwoNodes> nodes_;
};

TEST_F(Hosts, EachNodeFindsTheInterfaceBetweenThem) {
  const std::string hosts = emulated::address(0) + ":4," + emulated::address(1) + ":4";
  const int code = run_in(0, {BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--only", "17",
                              "--hosts", hosts, "--out", directory_ / "run"});
  std::ifstream stream(directory_ / "run" / "records.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(stream, line));
  const json record = json::parse(line);
  EXPECT_EQ(record["status"], "OK") << record["reason"];
  EXPECT_EQ(code, 0);
  EXPECT_EQ(record["config"]["backend"], "mpi");
  EXPECT_EQ(record["rank_map"][7]["host"], "node1");
  for (const json& node : record["link"]["nodes"]) EXPECT_EQ(node["interface"], emulated::kInterface);
}

}  // namespace harness::hosts_test
