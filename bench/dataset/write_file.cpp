// Writing with the errors a person can act on: which file, why, and what to do next.
#include "bench/dataset/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace bench {

namespace fs = std::filesystem;

// A name that no other writer of the same file has: two runs may list the same data set at once.
static fs::path own_draft(const fs::path& file) {
  static std::atomic<int64_t> drafts = 0;
  return fmt::format("{}.{}-{}.partial", file.string(), getpid(), drafts++);
}

void throw_write_error(const fs::path& path, int error) {
  const char* next = "choose another folder";
  if (error == ENOSPC || error == EDQUOT) next = "free some space or choose a folder on another disk";
  if (error == EACCES || error == EPERM || error == EROFS) next = "choose a folder that you may write to";
  throw std::runtime_error(fmt::format("cannot write {}: {}; {}", path.string(), std::strerror(error), next));
}

void write_whole_file(const fs::path& file, std::span<const uint8_t> content, bool durable) {
  const fs::path partial = own_draft(file);
  const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw_write_error(partial, errno);
  int error = 0;
  for (size_t done = 0; done < content.size() && !error;) {
    const ssize_t n = write(descriptor, content.data() + done, content.size() - done);
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) done += static_cast<size_t>(n);
  }
  if (!error && durable && fsync(descriptor)) error = errno;
  if (close(descriptor) && !error) error = errno;
  if (!error && rename(partial.c_str(), file.c_str())) error = errno;
  if (error) {
    unlink(partial.c_str());
    throw_write_error(file, error);
  }
  if (durable) sync_folder(file.parent_path());
}

void write_whole_file(const fs::path& file, std::string_view text, bool durable) {
  write_whole_file(file, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()), durable);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_write_error(folder, error.value());
  if (!fs::is_directory(folder)) throw_write_error(folder, ENOTDIR);
}

void require_room(const fs::path& path, int64_t bytes, std::string_view what) {
  fs::path existing = fs::absolute(path).lexically_normal();
  while (!fs::exists(existing) && existing.has_relative_path()) existing = existing.parent_path();
  struct statvfs disk;
  if (statvfs(existing.c_str(), &disk)) return;
  const double room = static_cast<double>(disk.f_bavail) * disk.f_frsize;
  if (room >= static_cast<double>(bytes)) return;
  throw std::runtime_error(fmt::format(
      "{} needs {:.1f} MB in {} but {:.1f} MB are free; free some space or choose a folder on another disk",
      what, bytes / 1e6, path.string(), room / 1e6));
}

void sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

FileLock::FileLock(const fs::path& file)
    : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw_write_error(file, errno);
  while (flock(descriptor_, LOCK_EX)) {
    if (errno == EINTR) continue;
    const int error = errno;
    close(descriptor_);
    throw_write_error(file, error);
  }
}

FileLock::~FileLock() { close(descriptor_); }

}  // namespace bench
