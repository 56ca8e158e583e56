#include "harness/interrupt.h"

#include <signal.h>

namespace harness {

static volatile sig_atomic_t noted = 0;

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { noted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: waiting calls return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return noted != 0; }

}  // namespace harness
