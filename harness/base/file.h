// Descriptors, reading whole files and replacing them atomically, other programs' logs; folders and their
// free space.
#pragma once
#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// Owns a file descriptor and closes it on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

// Closed where a program is executed, unless that program gets an end as one of its own descriptors.
struct Pipe {
  // Throws std::runtime_error, `what` and the reason, where no descriptor is free.
  explicit Pipe(const std::string& what = "pipe");
  Descriptor read, write;
};

struct RegularFile {
  // Opens a regular file for reading without blocking, also when the path is a named pipe. `folder`:
  // descriptor of the folder that relative paths start from.
  static RegularFile open(const char* file, int folder = AT_FDCWD);

  Descriptor descriptor;
  int64_t bytes = 0;
  int error = 0;    // errno of a failed open
  std::string why;  // when not open: the reason, e.g. "a named pipe, not a regular file"
  bool is_open() const { return descriptor.number() >= 0; }
};

// The type of a file that is not a regular one: "a folder", "a named pipe", "a socket" or "a device".
const char* kind_name(mode_t mode);

// Throws std::runtime_error when the path exists and is not a regular file: opening a named pipe would block
// until a writer opens it.
void require_regular(const std::filesystem::path& file);

// Opens a regular file for reading; the stream's fail bit is set when it can't be opened. Throws like
// require_regular().
std::ifstream open_regular(const std::filesystem::path& file);

// The whole content. Throws std::runtime_error with the file and the reason when it can't be read.
std::string read_file(const std::filesystem::path& file);

// Its first line; empty where the file is empty or can't be read.
std::string first_line(const std::filesystem::path& file);

// Writes all bytes, also where a call takes only a part of them. Returns errno of a failed call, or 0.
int write_all(int descriptor, const void* data, size_t bytes);

// Reads all bytes from `offset`, or from where the descriptor is if that is -1. Returns how many: fewer where
// the file ends before; -1 with errno where a call fails.
int64_t read_all(int descriptor, void* target, size_t bytes, int64_t offset = -1);

// Replaces the file atomically: writes a draft in the same folder and renames it, so a reader sees the
// complete old or the complete new content, even after a full disk or a kill. With several writers, the last
// rename wins. `durable`: returns after fsync of file and folder. Throws std::runtime_error with the path,
// the reason and the next step; the old content then stays.
void write_whole_file(const std::filesystem::path& file, std::span<const uint8_t> content,
                      bool durable = false);
void write_whole_file(const std::filesystem::path& file, std::string_view text, bool durable = true);

// What a folder holds, sorted by name; nothing where there is no such folder. Throws std::runtime_error with
// the reason where it can't be listed: what can't be read must not look like what is empty.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

// Removes what write_whole_file() of killed programs left in the folder and, unless told otherwise, below it;
// only while no other program writes there.
void remove_drafts(const std::filesystem::path& folder, bool below = true);
// Removes those of one file, in a folder where others may write, that programs of this machine left which
// have ended.
void remove_drafts_of(const std::filesystem::path& file);

// fsync of the folder, which makes created and renamed names durable. Errors are ignored: some file systems
// don't support it.
void sync_folder(const std::filesystem::path& folder);

// Creates the folder and its parents. Throws std::runtime_error with the next step when that fails.
void make_folder(const std::filesystem::path& folder);

// Throws std::runtime_error when fewer than `bytes` are free on the file system of `path`, which need not
// exist yet. `what`: what needs the space, for the message.
void require_room(const std::filesystem::path& path, int64_t bytes, std::string_view what);

// Total size of the regular files in a folder and its subfolders; symbolic links are not followed, files that
// disappear meanwhile are not counted.
int64_t bytes_below(const std::filesystem::path& folder);

// ", which belongs to NAME" where the path is another user's; else empty.
std::string owner_in_words(const std::filesystem::path& path);

// Throws std::runtime_error with the reason and the next step. `error`: errno of the failed write at or below
// `path`.
[[noreturn]] void throw_write_error(const std::filesystem::path& path, int error);

// The lines of a file, without lines of only blanks and dashes; characters other than printable ASCII become
// blanks. Returns an empty list when the file can't be read.
std::vector<std::string> log_lines(const std::filesystem::path& file);

// The first or last `lines` of them, joined by `separator`.
std::string first_lines(const std::filesystem::path& file, size_t lines, const char* separator);
std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator);

}  // namespace base
