// Creates or maps the file with one slot per rank; disk space is allocated in advance.
#include "harness/contract/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "harness/base/file.h"

namespace harness {

uint64_t this_machine() {
  return std::hash<std::string>()(base::first_line("/proc/sys/kernel/random/boot_id"));
}

// In containers of one machine the same pid may be another process.
static uint64_t table_of_processes() {
  struct stat table {};
  return ::stat("/proc/self/ns/pid", &table) == 0 ? this_machine() ^ uint64_t(table.st_ino) : this_machine();
}

void record_process(ProgressSlot& slot, pid_t pid) {
  slot.machine = table_of_processes();
  slot.pid = int32_t(pid);
}

pid_t pid_here(const ProgressSlot& slot) {
  static const uint64_t here = table_of_processes();
  return slot.machine == here ? pid_t(slot.pid) : 0;
}

void set_why_ended(ProgressSlot& slot, const std::string& text) {
  std::strncpy(slot.why_ended, text.c_str(), sizeof slot.why_ended - 1);
}

std::string why_ended(const ProgressSlot& slot) {
  return {slot.why_ended, ::strnlen(slot.why_ended, sizeof slot.why_ended)};
}

Progress::Progress(const std::filesystem::path& file, int ranks) : ranks_(ranks) {
  const auto fail = [&](const char* what) {
    throw std::runtime_error(fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)));
  };
  const base::Descriptor opened(
      ::open(file.c_str(), O_RDWR | O_CLOEXEC | (ranks > 0 ? O_CREAT | O_TRUNC : 0), 0644));
  const int fd = opened.number();
  if (fd < 0) fail("can't open the progress file");
  // posix_fallocate instead of ftruncate: on a full disk, writing to an unallocated page would end the
  // process with SIGBUS.
  if (ranks > 0 && (errno = ::posix_fallocate(fd, 0, off_t(size_t(ranks) * sizeof(ProgressSlot)))) != 0)
    fail("can't allocate the progress file; free some space, or name another folder with --out");
  struct stat info {};
  ::fstat(fd, &info);
  ranks_ = int(info.st_size / off_t(sizeof(ProgressSlot)));
  void* memory = ::mmap(nullptr, size_t(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) fail("can't map the progress file");
  slots_ = static_cast<ProgressSlot*>(memory);
}

Progress::~Progress() { ::munmap(slots_, size_t(ranks_) * sizeof(ProgressSlot)); }

}  // namespace harness
