#include "harness/scratch.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>

namespace harness {

namespace fs = std::filesystem;

static fs::path memory() {
  return ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
}

// The process number at the end of the name belongs to nobody any more.
static bool left_behind(const fs::path& folder, const std::string& prefix) {
  const std::string name = folder.filename().string();
  if (name.rfind(prefix, 0) != 0) return false;
  int pid = 0;
  const char *begin = name.data() + prefix.size(), *end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, pid);
  return error == std::errc() && stop == end && ::kill(pid, 0) != 0 && errno == ESRCH;
}

Scratch::Scratch() : Scratch(memory(), "run_matrix-") {}

Scratch::Scratch(const fs::path& place, const std::string& prefix)
    : path_(place / fmt::format("{}{}", prefix, ::getpid())) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored))
    if (left_behind(entry.path(), prefix)) fs::remove_all(entry.path(), ignored);
  fs::create_directories(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace harness
