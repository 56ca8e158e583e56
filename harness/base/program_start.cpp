// Reserves the three standard descriptors if they are closed, and ignores SIGPIPE and SIGXFSZ.
#include "harness/base/program_start.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace base {

void start_program() {
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) {
      // open() returns the lowest free number, which is this one.
      [[maybe_unused]] const int reserved = ::open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace base
