// Files that are whole or absent, and room for them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "harness/base/file.h"
#include "harness/base/file_lock.h"

namespace bench {

using base::FileLock;
using base::sync_folder;
using base::throw_write_error;
using base::write_whole_file;

// Creates the folder; throws with the next step where that is not possible.
void make_folder(const std::filesystem::path& folder);

// Throws if fewer than `bytes` are free where `path` is or will be.
void require_room(const std::filesystem::path& path, int64_t bytes, std::string_view what);

}  // namespace bench
