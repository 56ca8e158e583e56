// A library for LD_PRELOAD under which a program's threads take turns as they would on another machine: where
// one takes or leaves a lock, waits for or wakes another, or starts one, it now and then sleeps for up to a
// millisecond or moves to another core. tests/faults/schedules runs the tests under it. SCHEDULE_SEED chooses
// which of the calls; the system's own scheduling stays what it is, so that a seed repeats a kind of disorder
// and not an order.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kOneIn = 16 };  // of the calls

static uint64_t seed;

__attribute__((constructor)) static void begin(void) {
  const char* given = getenv("SCHEDULE_SEED");
  seed = given ? strtoull(given, NULL, 10) : 1;
}

// To another core and back to those that the thread may use: by system calls, because a test may watch the
// library's.
static void move(uint64_t random) {
  uint64_t may[16] = {0}, one[16] = {0};
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof may, may);
  if (bytes <= 0) return;
  for (unsigned tries = 0; tries < 64; ++tries) {
    const unsigned core = (random + tries) % (8 * (unsigned)bytes);
    if (!(may[core / 64] >> (core % 64) & 1)) continue;
    one[core / 64] = 1ull << (core % 64);
    syscall(SYS_sched_setaffinity, 0, bytes, one);
    syscall(SYS_sched_setaffinity, 0, bytes, may);
    return;
  }
}

static void disturb(void) {
  static _Atomic uint64_t calls;
  uint64_t random = seed + 0x9e3779b97f4a7c15u * atomic_fetch_add(&calls, 1);  // splitmix64
  random = (random ^ (random >> 30)) * 0xbf58476d1ce4e5b9u;
  random = (random ^ (random >> 27)) * 0x94d049bb133111ebu;
  random ^= random >> 31;
  if (random % kOneIn != 0) return;
  const int before = errno;
  random /= kOneIn;
  switch (random % 4) {
    case 0:
      move(random >> 2);
      break;
    case 1:
      sched_yield();
      break;
    default: {
      const struct timespec sleep = {0, (long)(random >> 2) % 1000000};
      syscall(SYS_nanosleep, &sleep, NULL);
    }
  }
  errno = before;
}

#define REAL(name, version)                                               \
  static __typeof__(&name) real;                                          \
  if (!real) real = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, version); \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define BEFORE(name, version, parameters, arguments) \
  int name parameters {                              \
    REAL(name, version);                             \
    disturb();                                       \
    return real arguments;                           \
  }
#define AFTER(name, version, parameters, arguments) \
  int name parameters {                             \
    REAL(name, version);                            \
    const int result = real arguments;              \
    disturb();                                      \
    return result;                                  \
  }

BEFORE(pthread_mutex_lock, "GLIBC_2.2.5", (pthread_mutex_t * mutex), (mutex))
AFTER(pthread_mutex_unlock, "GLIBC_2.2.5", (pthread_mutex_t * mutex), (mutex))
AFTER(pthread_cond_wait, "GLIBC_2.3.2", (pthread_cond_t * condition, pthread_mutex_t* mutex),
      (condition, mutex))
AFTER(pthread_cond_timedwait, "GLIBC_2.3.2",
      (pthread_cond_t * condition, pthread_mutex_t* mutex, const struct timespec* until),
      (condition, mutex, until))
AFTER(pthread_cond_clockwait, "GLIBC_2.34",
      (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until),
      (condition, mutex, clock, until))
BEFORE(pthread_cond_signal, "GLIBC_2.3.2", (pthread_cond_t * condition), (condition))
BEFORE(pthread_cond_broadcast, "GLIBC_2.3.2", (pthread_cond_t * condition), (condition))
BEFORE(pthread_join, "GLIBC_2.34", (pthread_t thread, void** result), (thread, result))
AFTER(sem_wait, "GLIBC_2.34", (sem_t * semaphore), (semaphore))
BEFORE(sem_post, "GLIBC_2.34", (sem_t * semaphore), (semaphore))
AFTER(pthread_create, "GLIBC_2.34",
      (pthread_t * thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument),
      (thread, attributes, function, argument))
