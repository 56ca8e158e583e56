// Reads the dump of LibTorch's flight recorder, which each rank of a hung row over NCCL writes.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

// By process group of the rank: the last collective that was enqueued, with its state, and the last that was
// completed. Empty without a dump; says what is wrong with a damaged one.
std::string last_collectives(const std::filesystem::path& dump);

}  // namespace harness
