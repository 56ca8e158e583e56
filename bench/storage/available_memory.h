// How much memory a copy of images may take: what the machine has free, within a container's limit.
#pragma once
#include <cstdint>

namespace bench {

// Bytes; a very large number where neither /proc/meminfo nor a cgroup says.
int64_t available_memory_bytes();

}  // namespace bench
