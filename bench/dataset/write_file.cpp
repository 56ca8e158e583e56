// Writing with the errors a person can act on: which file, why, and what to do next.
#include "bench/dataset/write_file.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <stdexcept>

namespace bench {

namespace fs = std::filesystem;

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

}  // namespace bench
