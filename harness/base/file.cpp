// Writes to a temporary file beside the target and renames it; errors tell how to make room or get access.
#include "harness/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace base {

namespace fs = std::filesystem;

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Pipe::Pipe(const std::string& what) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
}

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

RegularFile RegularFile::open(const char* file, int folder) {
  RegularFile opened;
  Descriptor descriptor(::openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &facts) != 0) {
    opened.error = errno;
    opened.why = std::strerror(opened.error);
  } else if (!S_ISREG(facts.st_mode)) {
    opened.why = std::string(kind_name(facts.st_mode)) + ", not a regular file";
  } else {
    opened.descriptor = std::move(descriptor);
    opened.bytes = static_cast<int64_t>(facts.st_size);
  }
  return opened;
}

void require_regular(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw std::runtime_error(fmt::format("{}: is {}, expected a regular file; remove it or name another",
                                         file.string(), kind_name(status.st_mode)));
}

std::ifstream open_regular(const fs::path& file) {
  require_regular(file);
  return std::ifstream(file, std::ios::binary);
}

std::string read_file(const fs::path& file) {
  std::ifstream stream = open_regular(file);
  std::string content;
  if (stream) try {
      content.assign(std::istreambuf_iterator<char>(stream), {});
      return content;
    } catch (const std::ios_base::failure&) {  // of a read in the middle; its text names no file
    }
  throw std::runtime_error(fmt::format("{}: can't be read: {}", file.string(), std::strerror(errno)));
}

// The name of a draft file that no other writer uses.
static fs::path own_draft(const fs::path& file) {
  static std::atomic<int64_t> drafts = 0;
  return fmt::format("{}.{}-{}.partial", file.string(), ::getpid(), drafts++);
}

static bool is_draft(const fs::path& file) {
  const std::string number = file.stem().extension().string();  // .PID-N
  return file.extension() == ".partial" && number.find('-') != number.npos &&
         number.find_first_not_of("0123456789-", 1) == number.npos;
}

std::string owner_in_words(const fs::path& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || facts.st_uid == ::geteuid()) return "";
  const passwd* user = ::getpwuid(facts.st_uid);
  return ", which belongs to " + (user ? user->pw_name : fmt::format("user {}", facts.st_uid));
}

void throw_write_error(const fs::path& path, int error) {
  const char* next = "choose another folder";
  if (error == ENOSPC || error == EDQUOT) next = "free some space or choose a folder on another disk";
  if (error == EACCES || error == EPERM || error == EROFS) next = "choose a folder that you may write to";
  if (error == EFBIG) next = "raise the file size limit (ulimit -f)";
  throw std::runtime_error(fmt::format("cannot write {}{}: {}; {}", path.string(), owner_in_words(path),
                                       std::strerror(error), next));
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

int write_all(int descriptor, const void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = ::write(descriptor, static_cast<const char*>(data) + done, bytes - done);
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return 0;
}

int64_t read_all(int descriptor, void* target, size_t bytes, int64_t offset) {
  size_t done = 0;
  while (done < bytes) {
    char* const place = static_cast<char*>(target) + done;
    const ssize_t n = offset < 0 ? ::read(descriptor, place, bytes - done)
                                 : ::pread(descriptor, place, bytes - done, offset + off_t(done));
    if (n < 0 && errno != EINTR) return -1;
    if (n == 0) break;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return static_cast<int64_t>(done);
}

void write_whole_file(const fs::path& file, std::span<const uint8_t> content, bool durable) {
  fs::path draft;
  int descriptor = -1;
  do {  // a killed writer, or one in another container, with the same pid may have left a draft of this name
    draft = own_draft(file);
    descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) throw_write_error(file, errno);
  int error = write_all(descriptor, content.data(), content.size());
  if (!error && durable && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && !error) error = errno;
  if (!error && ::rename(draft.c_str(), file.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(draft.c_str());
    throw_write_error(file, error);
  }
  if (durable) sync_folder(file.parent_path());
}

void write_whole_file(const fs::path& file, std::string_view text, bool durable) {
  write_whole_file(file, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()), durable);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw std::runtime_error(fmt::format("{}: can't be listed: {}", folder.string(), error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

void remove_drafts(const fs::path& folder, bool below) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    if (!below) it.disable_recursion_pending();
    if (is_draft(it->path()) && it->is_regular_file(ignored)) fs::remove(it->path(), ignored);
  }
}

void remove_drafts_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    if (!is_draft(it->path()) || it->path().stem().stem() != file.filename()) continue;
    const auto writer = pid_t(std::atoi(it->path().stem().extension().c_str() + 1));
    if (writer == ::getpid() || (::kill(writer, 0) != 0 && errno == ESRCH)) fs::remove(it->path(), ignored);
  }
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

int64_t bytes_below(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code error;  // files that can't be listed or are removed meanwhile aren't counted
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->symlink_status(gone).type() != fs::file_type::regular) continue;
    if (const auto size = it->file_size(gone); !gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

std::vector<std::string> log_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) {
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = ' ';
    if (line.find_first_not_of(" -") != std::string::npos) all.push_back(line);  // skips mpirun's rulers
  }
  return all;
}

std::string first_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  const std::vector<std::string> all = log_lines(file);
  return fmt::format("{}",
                     fmt::join(all.begin(), all.begin() + long(std::min(lines, all.size())), separator));
}

std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  const std::vector<std::string> all = log_lines(file);
  return fmt::format("{}", fmt::join(all.end() - long(std::min(lines, all.size())), all.end(), separator));
}

}  // namespace base
