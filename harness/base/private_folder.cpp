// Creates the folder with mode 0700, and verifies the owner and mode of one that already exists.
#include "harness/base/private_folder.h"

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
  const fs::path usual = place / fmt::format("training-matrix-{}", ::geteuid());
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

}  // namespace base
