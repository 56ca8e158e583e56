#include "bench/storage/available_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace bench {

int64_t available_memory_bytes() {
  int64_t available = INT64_MAX, number = 0;
  std::string name;
  std::ifstream meminfo("/proc/meminfo");
  while (meminfo >> name) {
    if (name == "MemAvailable:" && meminfo >> number) available = number * 1024;
    meminfo.ignore(256, '\n');
  }
  int64_t limit = 0, used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used)
    available = std::min(available, limit - used);
  return available;
}

}  // namespace bench
