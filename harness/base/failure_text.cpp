#include "harness/base/failure_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

namespace base {

static const char* next_step(int error) {
  switch (error) {
    case ENOTDIR:
      return "expected a folder, and a file of that name, or of a part of it, is in the way: name another "
             "folder";
    case ENOENT:
      return "expected something that exists: check the spelling";
    case EACCES:
    case EPERM:
      return "expected something that you may use: change its permissions, or name another";
    case EROFS:
      return "expected a place that can be written: name a folder on another disk";
    case ENOSPC:
    case EDQUOT:
      return "expected room there: free some space, or name a folder on another disk";
    case ENAMETOOLONG:
      return "expected a name of at most 255 bytes: name a shorter one";
    case ELOOP:
      return "expected a path whose links end somewhere: name another";
    case EEXIST:
      return "expected a name that is free: remove what is there, or name another";
    default:
      return "check that path, or name another";
  }
}

// Of "filesystem error: cannot create directories: Not a directory [/a]" what couldn't be done.
static std::string attempt(const std::string& what, const std::string& reason) {
  const std::string begin = "filesystem error: ";
  const size_t end = what.find(": " + reason);
  if (what.rfind(begin, 0) != 0 || end == std::string::npos || end <= begin.size()) return "";
  const std::string function =
      what.substr(begin.size(), end - begin.size());  // or words such as "cannot rename"
  return (function.rfind("cannot ", 0) == 0 ? function : "cannot be looked at") + ": ";
}

std::string failure_text(const std::exception& error) {
  const auto* of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (!of_files) return error.what();
  const std::string reason = of_files->code().message(), path = of_files->path1().string();
  return fmt::format("{}{}{}; {}", path.empty() ? "" : path + ": ", attempt(error.what(), reason), reason,
                     next_step(of_files->code().value()));
}

}  // namespace base
