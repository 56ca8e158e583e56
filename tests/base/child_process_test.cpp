// unit: other programs that can't start, or end while signals arrive.
#include "harness/base/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <filesystem>

#include "harness/contract/progress.h"

namespace base::child_process_test {

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(ChildProcess, AFailureLeavesNoDescriptorOpen) {
  const auto before = open_descriptors();
  EXPECT_THROW(run_to_end({{"/no/such/program"}, {}, {}, {}, {}}), std::runtime_error);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_THROW(harness::Progress("/dev/null", 1), std::runtime_error) << "no space can be allocated in it";
  EXPECT_EQ(open_descriptors(), before);
}

TEST(ChildProcess, ASignalDoesNotEndTheWaitForAnExitCode) {
  struct sigaction note {
  }, before{};
  note.sa_handler = [](int) {};  // no SA_RESTART
  ::sigaction(SIGALRM, &note, &before);
  const itimerval every_20_ms{{0, 20000}, {0, 20000}}, never{};
  const pid_t pid = start({{"sh", "-c", "sleep 0.2; exit 3"}, {}, {}, {}, {}});
  ::setitimer(ITIMER_REAL, &every_20_ms, nullptr);
  EXPECT_EQ(exit_code_of_child(pid, /*wait=*/true), 3);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace base::child_process_test
