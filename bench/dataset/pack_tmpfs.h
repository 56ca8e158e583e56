// Copies a data set into a mounted tmpfs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/dataset/pack.h"

namespace bench {

// Those of /dev/shm and /tmp that are a tmpfs, in this order, writable or not.
std::vector<std::filesystem::path> mounted_tmpfs();

// Copies to the first of the mounts that is writable and has room. If none has, the result has no location
// and the note lists why. Throws std::runtime_error if too little memory is available.
PackResult pack_to_memory(const PackRequest& request, const std::vector<std::filesystem::path>& mounts);

}  // namespace bench
