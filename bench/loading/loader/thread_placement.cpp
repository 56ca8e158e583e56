// Sets the scheduling class and the CPU affinity of threads with Linux's system calls.
#include "bench/loading/loader/thread_placement.h"

#include <pthread.h>
#include <sched.h>

namespace bench {

void yield_to_others() {
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_IDLE, &none);
}

void pin_to_core(std::thread& thread, int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  number %= CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed) && number-- == 0) CPU_SET(core, &one);
  pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
}

}  // namespace bench
