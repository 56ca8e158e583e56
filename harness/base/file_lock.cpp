// Compares the locked file's inode with that of the name, to notice that the lock file was replaced.
#include "harness/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "harness/base/interrupt.h"
#include "harness/base/say.h"

namespace base {

namespace fs = std::filesystem;

constexpr auto kLockPoll = std::chrono::milliseconds(50);
constexpr int kPollsInSilence = 100;

// Whose process holds a lock on the file: from the kernel's table, whose lines read
// "1: FLOCK  ADVISORY  WRITE 4711 08:01:131077 0 EOF".
static std::string holder_of(int descriptor) {
  struct stat facts {};
  ::fstat(descriptor, &facts);
  std::ifstream table("/proc/locks");
  for (std::string line, number, kind, mode, access, pid, file; std::getline(table, line);) {
    std::istringstream words(line);
    words >> number >> kind >> mode >> access >> pid >> file;
    if (kind == "FLOCK" && file.ends_with(fmt::format(":{}", facts.st_ino)))
      return fmt::format("process {}{},", pid, owner_in_words("/proc/" + pid));
  }
  return "another process";
}

static bool lock(const fs::path& file, int descriptor, int operation) {
  for (int polls = 0; ::flock(descriptor, operation | LOCK_NB) != 0; ++polls) {
    if (errno != EINTR && (errno != EWOULDBLOCK || operation & LOCK_NB)) return false;
    if (interrupted()) return errno = EINTR, false;
    if (polls == kPollsInSilence)
      say("waiting for {}, which {} has locked\n", file.string(), holder_of(descriptor));
    std::this_thread::sleep_for(kLockPoll);
  }
  return true;
}

static constexpr int kLockFile = O_RDWR | O_CREAT | O_NOFOLLOW;

FileLock::FileLock(fs::path file, int open_flags, int operation) : file_(std::move(file)) {
  descriptor_ = Descriptor(::open(file_.c_str(), O_CLOEXEC | open_flags, 0644));
  if (descriptor_.number() < 0 || !lock(file_, descriptor_.number(), operation)) error_ = errno;
}

FileLock::FileLock(const fs::path& file, Kind kind)
    : FileLock(file, kLockFile, kind == Kind::shared ? LOCK_SH : LOCK_EX) {
  if (error_ == EINTR) stop_if_interrupted();
  if (!holds()) throw_write_error(file_, error_);
}

FileLock FileLock::on_current(const fs::path& file, Kind kind) {
  for (;;)
    if (FileLock lock(file, kind); lock.is_current()) return lock;
}

FileLock FileLock::of_folder(const fs::path& folder) { return {folder, O_RDONLY | O_DIRECTORY, LOCK_EX}; }

FileLock FileLock::try_exclusive(const fs::path& file) { return {file, kLockFile, LOCK_EX | LOCK_NB}; }

FileLock FileLock::try_existing(const fs::path& file) { return {file, O_RDWR, LOCK_EX | LOCK_NB}; }

bool FileLock::another_holds() const { return error_ == EWOULDBLOCK; }

bool FileLock::is_current() const {
  struct stat held {
  }, named{};
  return ::fstat(descriptor_.number(), &held) == 0 && ::lstat(file_.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino;
}

bool FileLock::make_exclusive() { return lock(file_, descriptor_.number(), LOCK_EX | LOCK_NB); }

InUse::InUse(const fs::path& what)
    : file_(what.string() + ".in-use"), lock_(FileLock::on_current(file_, FileLock::Kind::shared)) {}

InUse::~InUse() {
  // A make_alone() that failed has given the lock up (flock), and the last user may have removed the file
  // since; one of that name is then another user's.
  std::error_code ignored;
  if (make_alone() && lock_.is_current()) fs::remove(file_, ignored);
}

}  // namespace base
