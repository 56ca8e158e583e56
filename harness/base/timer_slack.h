// Precise sleeping.
#pragma once
#include <sys/prctl.h>

namespace base {

// From now on sleeps of the calling thread end 1 ns late at most, instead of the default timer slack of 50 us
// (PR_SET_TIMERSLACK). A system call at a thread's first call only.
inline void sleep_precisely() {
  thread_local const int precise [[maybe_unused]] = ::prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace base
