// The processes that a row has started, also those that its launcher started and that have left its process
// group or lost their parent.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace base {

class Offspring {
 public:
  // Everything that this process starts from here on, directly or not. What it has started before stays out,
  // with all that is started from there (the object store, the holders of namespaces). From here on,
  // descendants whose parent ends become children of this process instead of init's.
  Offspring();

  // Those that live. Reaps the ones that have ended and that nobody else waits for.
  std::vector<pid_t> living() const;

  // Returns when none is left: kills those that live on after `grace`, and gives up after `limit`. What could
  // not be ended is told by live_strays() from then on.
  void end(std::chrono::milliseconds grace, std::chrono::milliseconds limit = std::chrono::seconds(30)) const;

 private:
  std::set<std::pair<pid_t, unsigned long long>> before_;  // pid and start time: numbers are used again
};

// False too for a process that has ended and that its parent has not waited for, which mpirun may never do.
bool is_running(pid_t pid);

// "pid 123 (train_slice), ...": processes of earlier rows that could not be ended and still live. Empty
// normally.
std::string live_strays();
// Waits until there are none, or for the next interrupt, at most for `limit`; says on stderr what it waits
// for.
void wait_for_strays(std::chrono::seconds limit);

}  // namespace base
