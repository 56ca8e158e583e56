// Which mounted tmpfs a data set may be copied to.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/dataset/pack.h"

namespace bench {

// /dev/shm first, then every other tmpfs that isn't the system's own (/run, /sys, ...), writable or not.
std::vector<std::filesystem::path> mounted_tmpfs();

// Copies to the first of the given mounts that is writable and has room.
PackResult pack_to_memory(const PackRequest& request, const std::vector<std::filesystem::path>& mounts);

}  // namespace bench
