// Locks each temporary folder while it is used, and removes those whose lock a killed run left free.
#include "harness/base/scratch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "harness/base/file.h"

namespace base {

namespace fs = std::filesystem;

static bool is_private(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

fs::path private_folder(const fs::path& place) {
  fs::path usual = place / fmt::format("training-matrix-{}", ::geteuid());
  const int error = ::mkdir(usual.c_str(), 0700) == 0 ? 0 : errno;
  if (error == 0 || is_private(usual)) return usual;
  if (error != EEXIST) throw_write_error(usual, error);
  const std::string prefix = usual.filename().string() + "-";
  std::error_code unreadable;
  fs::path first;  // the smallest name, so that all programs of the user choose the same folder
  for (const auto& entry : fs::directory_iterator(place, unreadable))
    if (entry.path().filename().string().rfind(prefix, 0) == 0 && is_private(entry.path()))
      if (first.empty() || entry.path() < first) first = entry.path();
  if (!first.empty()) return first;
  std::string made = place / (prefix + "XXXXXX");
  if (!::mkdtemp(made.data())) throw_write_error(usual, errno);
  return made;
}

static constexpr const char* kLock = ".lock";

static fs::path memory() {
  return base::private_folder(::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm")
                                                              : fs::temp_directory_path());
}

static void remove_abandoned(const fs::path& place, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    if (!fs::is_regular_file(entry.path() / kLock, ignored)) {
      ::rmdir(entry.path().c_str());  // empty only if a run was killed before it made the lock
      continue;
    }
    const auto lock = base::FileLock::try_exclusive(entry.path() / kLock);
    if (lock.holds()) fs::remove_all(entry.path(), ignored);
  }
}

Scratch::Scratch() : Scratch(memory(), "run-") {}

Scratch::Scratch(const fs::path& place, const std::string& prefix) {
  std::error_code error;
  fs::create_directories(place, error);
  remove_abandoned(place, prefix);
  for (;;) {  // repeats when another run removed the new folder before it was locked
    std::string made = place / fmt::format("{}{}-XXXXXX", prefix, ::getpid());
    if (!::mkdtemp(made.data())) base::throw_write_error(place, errno);
    path_ = made;
    try {
      lock_.emplace(path_ / kLock);
      if (lock_->is_current()) return;
    } catch (const std::runtime_error&) {  // already removed, or a file system without locks
      if (fs::exists(path_)) return;
    }
  }
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace base
