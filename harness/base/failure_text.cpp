// Chooses the advice for a file-system error by its error number.
#include "harness/base/failure_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <iostream>

namespace base {

static const char* next_step(int error) {
  switch (error) {
    case ENOTDIR:
      return "expected a folder, but the path or a part of it is a file: name another folder";
    case ENOENT:
      return "expected an existing path: check the spelling";
    case EACCES:
    case EPERM:
      return "expected a path that you may access: change its permissions, or name another";
    case EROFS:
      return "expected a writable file system: name a folder on another disk";
    case ENOSPC:
    case EDQUOT:
      return "expected free space: free some, or name a folder on another disk";
    case ENAMETOOLONG:
      return "expected a name of at most 255 bytes: choose a shorter one";
    case ELOOP:
      return "expected a path without a loop of symbolic links: name another";
    case EEXIST:
      return "expected an unused name: remove the existing file, or name another";
    default:
      return "check the path, or name another";
  }
}

// The failed operation: "cannot create directories: " from "filesystem error: cannot create directories: Not
// a directory [/a]".
static std::string attempt(const std::string& what, const std::string& reason) {
  const std::string begin = "filesystem error: ";
  const size_t end = what.find(": " + reason);
  if (what.rfind(begin, 0) != 0 || end == std::string::npos || end <= begin.size()) return "";
  // A function's name, or words such as "cannot rename".
  const std::string function = what.substr(begin.size(), end - begin.size());
  return (function.rfind("cannot ", 0) == 0 ? function : "cannot be examined") + ": ";
}

std::string failure_text(const std::exception& error) {
  const auto* of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  if (!of_files) return error.what();
  const std::string reason = of_files->code().message(), path = of_files->path1().string();
  return fmt::format("{}{}{}; {}", path.empty() ? "" : path + ": ", attempt(error.what(), reason), reason,
                     next_step(of_files->code().value()));
}

bool survives(const std::function<void()>& step) try {
  step();
  return true;
} catch (const std::exception& error) {
  std::cerr << "run_matrix: " << failure_text(error) << '\n';
  return false;
}

}  // namespace base
