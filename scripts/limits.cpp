// Prints what this process may use, one `name value` per line, for scripts/machine.sh.
#include <iostream>

#include "harness/base/process_limits.h"

int main(int, char** arguments) {
  const base::ProcessLimits limits =
      base::process_limits(arguments[1] ? arguments[1] : "");  // where /proc and /sys are
  std::cout << "cores " << limits.cores << "\nmachine_cores " << limits.machine_cores << "\nmemory_mib "
            << (limits.memory_bytes >> 20) << "\nfree_memory_mib " << (limits.free_memory_bytes >> 20)
            << "\nmemory_limited_by " << limits.memory_limited_by << '\n';
  for (const std::string& note : limits.notes) std::cout << "note " << note << '\n';
}
