// Reading whole files, and replacing them without a moment in which neither the old nor the new content is
// there; folders and the room in them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace base {

// Throws std::runtime_error when there is something of that name that is no regular file: opening a named
// pipe would wait for a writer, for ever.
void require_regular(const std::filesystem::path& file);

// A regular file for reading, at its beginning; the stream has failed when there is none. Throws as
// require_regular().
std::ifstream open_regular(const std::filesystem::path& file);

// The whole content. Throws std::runtime_error with the file and the reason when it can't be read.
std::string read_file(const std::filesystem::path& file);

// Writes a draft beside the file and renames it: whoever reads the name, and whatever goes wrong (full disk,
// kill), finds the old content or the new, whole. Of several writers at once the last one's content stays.
// `durable`: returns when the disk has the content and the name. Throws std::runtime_error with the path, the
// reason and the next step; the old content then stays.
void write_whole_file(const std::filesystem::path& file, std::span<const uint8_t> content,
                      bool durable = false);
void write_whole_file(const std::filesystem::path& file, std::string_view text, bool durable = true);

// Makes names that were created or renamed in the folder durable; some file systems refuse, without a loss.
void sync_folder(const std::filesystem::path& folder);

// Creates the folder and those above it. Throws std::runtime_error with the next step where that is not
// possible.
void make_folder(const std::filesystem::path& folder);

// Throws std::runtime_error when fewer than `bytes` are free where `path` is or will be. what: who needs
// them.
void require_room(const std::filesystem::path& path, int64_t bytes, std::string_view what);

// Bytes of the regular files in a folder and below; links are not followed, what disappears meanwhile is not
// counted.
int64_t bytes_below(const std::filesystem::path& folder);

// The reason and the next step for an errno of a failed write at or below `path`.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

}  // namespace base
