// Files that are whole or absent, and room for them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace bench {

// Writes a draft beside the file and renames it, so that of several writers at once one's content stays,
// whole. `durable`: also fsyncs the file and its folder. Throws std::runtime_error with the path, the reason
// and the next step (full disk, no permission).
void write_whole_file(const std::filesystem::path& file, std::span<const uint8_t> content,
                      bool durable = false);
void write_whole_file(const std::filesystem::path& file, std::string_view text, bool durable = true);

// Creates the folder; throws with the next step where that is not possible.
void make_folder(const std::filesystem::path& folder);

// Throws if fewer than `bytes` are free where `path` is or will be.
void require_room(const std::filesystem::path& path, int64_t bytes, std::string_view what);

void sync_folder(const std::filesystem::path& folder);

// The reason and next step for an errno of a failed write below `path`.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

// Holds an exclusive lock on a file while it lives, waiting for another process to let go; the file stays.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace bench
