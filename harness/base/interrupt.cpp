// Installs signal handlers that count in an atomic variable; the third signal has its default effect.
#include "harness/base/interrupt.h"

#include <signal.h>

#include <array>
#include <atomic>

namespace base {

static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
static std::atomic<int> noted = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler counts");

static void note(int number) {
  // A closing terminal sends SIGHUP twice: from its shell and from the kernel.
  if (number == SIGHUP && noted > 0) return;
  if (++noted < 2) return;
  for (int number : kSignals) signal(number, SIG_DFL);
}

void note_interrupts() {
  for (int number : kSignals) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (number == SIGHUP && action.sa_handler == SIG_IGN) continue;  // nohup: keep running without a terminal
    action.sa_handler = note;
    action.sa_flags = 0;  // no SA_RESTART: waiting calls return
    sigaction(number, &action, nullptr);
  }
}

int interrupts() { return noted; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted("interrupted");
}

}  // namespace base
