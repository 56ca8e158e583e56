// Allocators that ranks use in place of the C library's: shared libraries that are loaded before it.
#pragma once
#include <string>

#include "harness/base/child_process.h"
#include "harness/contract/row.h"

namespace harness {

// Puts a library before those that the command (or this process's LD_PRELOAD) already loads first.
void preload(base::Command& command, const std::string& library);

// The library of row.malloc; empty: the C library's own allocator.
std::string allocator_library(const Row& row);
// Why that library can't be loaded here; empty when it can, or when none is needed.
std::string why_no_allocator(const Row& row);

}  // namespace harness
