// net: two nodes on one machine: namespaces, link, shaping; as root and without; nothing is left behind.
#include "harness/emulate/two_nodes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/train/link/interface.h"
#include "harness/base/child_process.h"
#include "harness/base/interrupt.h"
#include "harness/config/emulated_nodes.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::two_nodes_test {

namespace fs = std::filesystem;

std::string output_in(const TwoNodes& nodes, int node, const std::string& script) {
  base::Command command;
  command.arguments = nodes.enter(node);
  for (const std::string& word : {std::string("bash"), std::string("-c"), script})
    command.arguments.push_back(word);
  return base::run_to_end(command).output;
}

class TwoNodesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_two_nodes().empty()) GTEST_SKIP() << why_no_two_nodes();
  }
};

TEST_F(TwoNodesTest, HaveHostNamesAndALinkOfTheirOwn) {
  const TwoNodes nodes(0);
  EXPECT_EQ(output_in(nodes, 0, "cat /proc/sys/kernel/hostname"), "node0\n");
  EXPECT_EQ(output_in(nodes, 1, "cat /proc/sys/kernel/hostname"), "node1\n");
  EXPECT_SAYS(output_in(nodes, 1, "ip -brief address show link0"), "10.77.0.2/24");
  char host[256] = "";
  ::gethostname(host, sizeof host);
  EXPECT_STRNE(host, "node0") << "this process stays where it is";
  const TwoNodes others(0);  // no clash of names or addresses
  EXPECT_EQ(output_in(others, 0, "cat /proc/sys/kernel/hostname"), "node0\n");
}

// Else a row would be skipped, for want of a capability that the machine has.
TEST_F(TwoNodesTest, ASignalIsTold) {
  const std::string path = ::getenv("PATH");
  for (const char* program : {"unshare", "ip"}) {
    const TemporaryFolder folder;
    const fs::path fake = folder.path() / program;
    std::ofstream(fake) << "#!/bin/sh\nkill -TERM $$\n";
    fs::permissions(fake, fs::perms::owner_all);
    ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
    EXPECT_SAYS(failure_of([] { TwoNodes(200, 0); }), "was ended by signal 15");
    ::setenv("PATH", path.c_str(), 1);
  }
}

// Else it would wait for a holder that has no reason to end, and then call the machine unable.
TEST(TwoNodesWhileMade, CtrlCIsToldAtOnce) {
  const TemporaryFolder folder;
  const fs::path fake = folder.path() / "unshare";
  std::ofstream(fake) << "#!/bin/sh\nsleep 0.3\nkill -INT $PPID\nexec sleep 20\n";
  fs::permissions(fake, fs::perms::owner_all);
  const auto interrupted = [&] {  // in a process of its own: an interrupt can't be taken back
    ::setenv("PATH", (folder.path().string() + ":" + ::getenv("PATH")).c_str(), 1);
    base::note_interrupts();
    _exit(failure_of([] { TwoNodes(200, 0); }).starts_with("interrupted") ? 130 : 1);
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(130), "");
}

TEST_F(TwoNodesTest, TheLinkIsShapedAndCountsWhatCrossesIt) {
  const TwoNodes nodes(200);
  for (int node : {0, 1}) EXPECT_SAYS(output_in(nodes, node, "tc qdisc show dev link0"), "rate 200Mbit");
  base::Command receiver;
  receiver.arguments = nodes.enter(1);
  for (const char* word : {"python3", "-c",
                           "import socket\n"
                           "connection = socket.create_server(('10.77.0.2', 5000)).accept()[0]\n"
                           "while connection.recv(1 << 20): pass"})
    receiver.arguments.push_back(word);
  const pid_t pid = start(receiver);
  const auto sent = [&] {
    std::istringstream counters(output_in(nodes, 0, "cat /proc/net/dev"));
    return bench::bytes_of_interface(emulated::kInterface, counters).sent;
  };
  const int64_t before = sent();
  output_in(nodes, 0,
            "python3 -c \"\n"
            "import socket, time\n"
            "for _ in range(200):\n"
            "  try: link = socket.create_connection(('10.77.0.2', 5000)); break\n"
            "  except OSError: time.sleep(0.05)\n"
            "link.sendall(bytes(2000000))\n\"");
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_GT(double(sent() - before), 2e6);
  EXPECT_LT(double(sent() - before), 2.2e6) << "headers only";
}

// Not a separate test: creates two nodes as the current user.
TEST(DISABLED_User, MakesTwoNodes) {
  const TwoNodes nodes(200);
  ASSERT_EQ(output_in(nodes, 1, "cat /proc/sys/kernel/hostname"), "node1\n");
}

TEST_F(TwoNodesTest, AnOrdinaryUserMayMakeThemWhereTheKernelAllows) {
  if (::geteuid() != 0) GTEST_SKIP() << "the other tests run as an ordinary user already";
  constexpr const char* kNobody = "65534";
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid", kNobody,
                                              "--regid", kNobody,   "--clear-groups"};
  const auto run = [&](std::vector<std::string> words) {
    base::Command command;
    command.arguments = as_nobody;
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.errors_to_output = true;
    return base::run_to_end(command);
  };
  if (run({"unshare", "--user", "--map-root-user", "--net", "true"}).exit_code != 0)
    GTEST_SKIP() << "users may not make network namespaces here";
  const fs::path program = fs::read_symlink("/proc/self/exe");
  if (run({"test", "-x", program}).exit_code != 0) GTEST_SKIP() << program << " is out of other users' reach";
  const base::Finished child =
      run({program, "--gtest_also_run_disabled_tests", "--gtest_filter=DISABLED_User.*"});
  EXPECT_EQ(child.exit_code, 0) << child.output;
}

}  // namespace harness::two_nodes_test
