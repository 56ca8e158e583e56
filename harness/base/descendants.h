// All processes that a row has started, including those that left the process group or lost their parent.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace base {

class Descendants {
 public:
  // Covers all descendants that this process starts from now on. Children that already run are excluded with
  // their descendants (the object store, the holders of namespaces). Makes this process a subreaper:
  // descendants whose parent ends become its children instead of init's.
  Descendants();

  // Those still running. Reaps ended ones that are children of this process.
  std::vector<pid_t> living() const;

  // Waits until all have ended: kills (SIGKILL) those still running after `grace`, and gives up after
  // `limit`. live_strays() then reports the remaining ones.
  void end(std::chrono::milliseconds grace, std::chrono::milliseconds limit = std::chrono::seconds(30)) const;

 private:
  std::set<std::pair<pid_t, unsigned long long>> before_;  // pid and start time, because pids are reused
};

// The running processes that this one has started, and theirs.
std::vector<pid_t> descendants_of(pid_t pid);

// False also for a zombie: mpirun may never wait for its ended children.
bool is_running(pid_t pid);

// "pid 123 (train_slice), ...": processes of earlier rows that could not be ended and still run. Normally
// empty. Sends them SIGKILL again.
std::string live_strays();
// Waits until live_strays() is empty, an interrupt arrives or `limit` is over; prints on stderr what it waits
// for.
void wait_for_strays(std::chrono::seconds limit);

}  // namespace base
