#include "harness/nightly/night_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/base/json_text.h"
#include "harness/base/moment.h"
#include "harness/config/config_error.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string holder_of(const fs::path& file) {
  const json holder = base::parse_json_file(file);
  if (!holder.is_object()) return "it has just started";
  return fmt::format("pid {}, since {}", holder.value("pid", int64_t(0)), holder.value("since", ""));
}

}  // namespace

NightLock::NightLock(const fs::path& history, const std::string& host) {
  std::error_code error;
  fs::create_directories(history, error);
  if (error)
    throw PreparationError(fmt::format("{}: can't be created: {}; choose a writable folder with --history",
                                       history.string(), error.message()));
  const fs::path file = history / fmt::format("nightly-{}.lock", host);
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0)
    throw PreparationError(fmt::format("{}: can't be opened: {}; choose a writable folder with --history",
                                       file.string(), std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    close(descriptor_);
    if (reason != EWOULDBLOCK)
      throw PreparationError(
          fmt::format("{}: can't be locked: {}; choose a folder on another file system with --history",
                      file.string(), std::strerror(reason)));
    throw PreparationError(fmt::format("another nightly is running on {}: {}; wait until it ends ({})", host,
                                       holder_of(file), file.string()));
  }
  const std::string holder = json{{"pid", getpid()}, {"since", base::moment_now()}}.dump() + "\n";
  // Only for the message above, so an error is ignored: a full disk is reported when the night is written.
  if (ftruncate(descriptor_, 0) == 0) (void)!write(descriptor_, holder.data(), holder.size());
}

NightLock::~NightLock() { close(descriptor_); }

}  // namespace harness
