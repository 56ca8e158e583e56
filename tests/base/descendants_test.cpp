// unit: the processes that a row has started are found and ended wherever they hang, and no others.
#include "harness/base/descendants.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "harness/base/child_process.h"

namespace harness::descendants_test {

using namespace std::chrono_literals;

pid_t shell(const std::string& script) {
  return base::start({{"bash", "-c", script}, {}, {}, "/dev/null", "/dev/null"});
}
bool lives(pid_t pid) { return ::kill(pid, 0) == 0 && ::waitpid(pid, nullptr, WNOHANG) == 0; }

TEST(Descendants, EndsOrphansInSessionsOfTheirOwnAndNothingOlder) {
  const pid_t service = shell("sleep 1107");
  const base::Descendants descendants;
  const pid_t launcher = shell("setsid sh -c 'sleep 1108 & sleep 1109 & wait' & sleep 1110");
  for (int i = 0; i < 200 && descendants.living().size() < 5; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(descendants.living().size(), 5u) << "bash, its sleep, sh in its session, and that one's two";
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  EXPECT_EQ(descendants.living().size(), 4u) << "they lost their parent, but are still found";
  descendants.end(0ms);
  EXPECT_TRUE(descendants.living().empty());
  EXPECT_EQ(base::live_strays(), "");
  EXPECT_TRUE(lives(service));
  ::kill(service, SIGKILL);
  ::waitpid(service, nullptr, 0);
}

TEST(Session, CommandsShareASessionOfTheirOwnAndAreChildrenOfThisProcess) {
  const base::Descendants descendants;
  const std::vector<pid_t> pids =
      base::start_in_session({{{"sleep", "1112"}, {}, {}, {}, {}}, {{"sleep", "1113"}, {}, {}, {}, {}}});
  ASSERT_EQ(pids.size(), 2u);
  EXPECT_EQ(::getsid(pids[0]), ::getsid(pids[1]));
  EXPECT_NE(::getsid(pids[0]), ::getsid(0));
  for (const pid_t pid : pids) {
    EXPECT_EQ(::getpgid(pid), pid) << "a signal to the group reaches it alone";
    EXPECT_TRUE(lives(pid));
    ::kill(-pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
}

TEST(Session, ACommandThatCannotBeStartedEndsTheOthers) {
  const base::Descendants descendants;
  try {
    base::start_in_session({{{"sleep", "1114"}, {}, {}, {}, {}}, {{"/nonexistent", "x"}, {}, {}, {}, {}}});
    ADD_FAILURE() << "started";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "/nonexistent: can't be started: No such file or directory");
  }
  EXPECT_TRUE(descendants.living().empty());
}

TEST(Descendants, IsGivenTimeToEndByItself) {
  const base::Descendants descendants;
  const pid_t parent = shell("sleep 0.4 & disown; exit 0");
  ::waitpid(parent, nullptr, 0);
  const auto begin = std::chrono::steady_clock::now();
  descendants.end(10s);
  EXPECT_TRUE(descendants.living().empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Descendants, WhatCannotBeEndedIsReportedUntilItEnds) {
  const base::Descendants descendants;
  const pid_t parent = shell("sleep 1111 & disown; exit 0");
  ::waitpid(parent, nullptr, 0);
  descendants.end(/*grace=*/1h, /*limit=*/0ms);  // given up at once, without having killed it
  EXPECT_NE(base::live_strays().find("pid "), std::string::npos) << "and kills it, now that it is asked for";
  base::wait_for_strays(10s);
  EXPECT_EQ(base::live_strays(), "");
}

}  // namespace harness::descendants_test
