// Where loader threads run: on one core each, or only where no other thread wants the core.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <thread>

namespace bench {

// Lets the calling thread run only on cores that are otherwise idle (SCHED_IDLE). If the kernel refuses,
// results stay the same, but ranks wait longer for a core.
inline void yield_to_others() {
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_IDLE, &none);
}

// Pins the thread to one of the cores that the process may use; numbers beyond them start again at the first.
// Best effort: fails silently if the container has lost the core since start.
inline void pin_to_core(std::thread& thread, int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  number %= CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed) && number-- == 0) CPU_SET(core, &one);
  pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
}

}  // namespace bench
