// The flag that SIGINT and SIGTERM set.
#include "bench/dataset/interrupt.h"

#include <atomic>
#include <csignal>

namespace bench {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { flag.store(true, std::memory_order_relaxed); };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return flag.load(std::memory_order_relaxed); }

void set_interrupted(bool on) noexcept { flag.store(on, std::memory_order_relaxed); }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted("interrupted");
}

}  // namespace bench
