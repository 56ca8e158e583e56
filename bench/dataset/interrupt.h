// Turns Ctrl-C into a flag that long loops poll, so that they can remove unfinished files before they stop.
#pragma once
#include <stdexcept>

namespace bench {

struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void catch_interrupts();  // SIGINT and SIGTERM set the flag from now on
bool interrupted() noexcept;
void set_interrupted(bool on) noexcept;
void stop_if_interrupted();  // throws Interrupted

}  // namespace bench
