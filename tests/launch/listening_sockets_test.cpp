// net: a row's processes listen only on the loopback interface or the row's network while they train, never
// on all interfaces.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "harness/base/child_process.h"
#include "harness/emulate/two_nodes.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/until_it_trains.h"

namespace listening_sockets_test {

namespace fs = std::filesystem;

// Inode of each listening TCP socket in the process's network namespace, and its address.
std::map<std::string, std::string> listening(const fs::path& process) {
  std::map<std::string, std::string> sockets;
  for (const auto& [table, family] : {std::pair("tcp", AF_INET), std::pair("tcp6", AF_INET6)}) {
    std::ifstream file(process / "net" / table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, skip, inode;
      words >> number >> local >> remote >> state >> skip >> skip >> skip >> skip >> skip >> inode;
      if (state != "0A") continue;  // TCP_LISTEN
      uint32_t address[4] = {};
      for (size_t i = 0; 8 * i < local.find(':'); ++i)
        address[i] = static_cast<uint32_t>(std::stoul(local.substr(8 * i, 8), nullptr, 16));
      char text[INET6_ADDRSTRLEN];
      sockets[inode] = inet_ntop(family, address, text, sizeof text);
    }
  }
  return sockets;
}

class ListeningSockets : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  // "name address" of everything that a process with this test's mark listens on.
  std::set<std::string> addresses() const {
    const std::string mark = "LISTENING=" + directory.string();
    std::set<std::string> found;
    std::error_code error;
    for (const auto& process : fs::directory_iterator("/proc", error)) {
      std::ifstream environ(process.path() / "environ"), comm(process.path() / "comm");
      const std::string variables(std::istreambuf_iterator<char>(environ), {});
      if (variables.find(mark) == std::string::npos) continue;
      std::string name;
      std::getline(comm, name);
      const auto sockets = listening(process.path());
      for (const auto& descriptor : fs::directory_iterator(process.path() / "fd", error)) {
        const std::string target = fs::read_symlink(descriptor.path(), error).string();
        if (target.rfind("socket:[", 0) != 0) continue;
        const auto socket = sockets.find(target.substr(8, target.size() - 9));
        if (socket != sockets.end()) found.insert(name + " " + socket->second);
      }
    }
    return found;
  }
  const TemporaryFolder folder;
  const fs::path directory = folder;
};

TEST_P(ListeningSockets, AreOnTheRowsOwnNetworkAlone) {
  const auto [row, backend] = GetParam();
  const bool two_nodes = std::atoi(row) >= 17;
  if (two_nodes && !harness::why_no_two_nodes().empty()) GTEST_SKIP() << harness::why_no_two_nodes();
  base::Command command;
  command.arguments = {BINARY_DIR "/run_matrix",
                       "--device",
                       "cpu",
                       "--scale",
                       "smoke",
                       "--only",
                       row,
                       "--out",
                       directory / "run",
                       "--set",
                       "storage=synthetic",
                       "--set",
                       "timed_batches=100000"};
  if (*backend)
    command.arguments.insert(command.arguments.end(), {"--set", std::string("backend=") + backend});
  command.environment = {{"LISTENING", directory}, {"RUN_MATRIX_PLOTS", "specs"}};
  command.output = directory / "out";
  command.errors = directory / "err";
  const pid_t pid = base::start(command);
  try {
    wait_until_it_trains(pid, directory / "run/rows" / (std::string(row) + "-repeat0"));
  } catch (const std::exception& error) {
    std::ifstream out(directory / "out"), err(directory / "err");
    ADD_FAILURE() << error.what() << out.rdbuf() << err.rdbuf();
  }
  const std::set<std::string> found = addresses();
  ::kill(pid, SIGTERM);
  ::waitpid(pid, nullptr, 0);
  for (const std::string& one : found) {
    const std::string address = one.substr(one.rfind(' ') + 1);
    const bool loopback = address == "::1" || address.find("127.0.0.1") != std::string::npos;
    const bool node = two_nodes && address.find("10.77.0.") != std::string::npos;
    EXPECT_TRUE(loopback || node) << one;
  }
  if (std::atoi(row) >= 12) {
    EXPECT_FALSE(found.empty()) << "the test saw nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ListeningSockets,
                         testing::Values(std::pair("7", ""), std::pair("12", "mpi"), std::pair("12", "gloo"),
                                         std::pair("13", ""), std::pair("14", ""), std::pair("15", ""),
                                         std::pair("16", ""), std::pair("17", "mpi"),
                                         std::pair("17", "gloo")),
                         [](const auto& info) {
                           return std::string("Row") + info.param.first + info.param.second;
                         });

}  // namespace listening_sockets_test
