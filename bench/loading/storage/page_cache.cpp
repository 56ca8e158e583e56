// Drops pages with posix_fadvise(), fills with read(), checks with mincore().
#include "bench/loading/storage/page_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "bench/formats/mapped_file.h"
#include "harness/base/process_limits.h"

namespace bench {
namespace {

constexpr const char* kReadBytes = "read_bytes:";
constexpr size_t kMostFilesAsked = 2000;  // of more files, evenly spaced ones are sampled

// None where it is missing or may not be read: the loader counts it as a bad image.
base::Descriptor open_file(const std::filesystem::path& file) {
  base::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (descriptor.number() < 0 && errno != EACCES && errno != ENOENT)
    throw std::runtime_error(fmt::format("can't open {}: {}", file.string(), std::strerror(errno)));
  return descriptor;
}

struct Pages {
  int64_t resident = 0, all = 0;
};

Pages count_pages(int descriptor, size_t bytes) {
  Pages pages;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  constexpr size_t kWindow = size_t{1} << 30;
  std::vector<unsigned char> states;
  for (size_t offset = 0; offset < bytes; offset += kWindow) {
    const size_t length = std::min(kWindow, bytes - offset);
    void* memory = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) throw std::runtime_error(fmt::format("mmap: {}", std::strerror(errno)));
    states.assign((length + page - 1) / page, 0);
    const int code = ::mincore(memory, length, states.data());
    ::munmap(memory, length);
    if (code != 0) throw std::runtime_error(fmt::format("mincore: {}", std::strerror(errno)));
    pages.all += static_cast<int64_t>(states.size());
    pages.resident +=
        std::count_if(states.begin(), states.end(), [](unsigned char state) { return state & 1; });
  }
  return pages;
}

bool acts_as_owner_of_any_file() {  // CAP_FOWNER, bit 3 of the effective set
  std::ifstream lines("/proc/self/status");
  for (std::string key; lines >> key;)
    if (key == "CapEff:") {
      uint64_t set = 0;
      lines >> std::hex >> set;
      return (set >> 3 & 1) != 0;
    }
  return false;
}

// The kernel's rule (can_do_mincore): for other callers mincore() reports every page as resident.
bool is_told_the_truth(const std::filesystem::path& file, const struct stat& facts, bool any_owner) {
  constexpr uid_t kUnmapped = 65534;  // owner not mapped in this user namespace: CAP_FOWNER has no effect
  return facts.st_uid == ::geteuid() || (any_owner && facts.st_uid != kUnmapped) ||
         ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0;
}

// Some sandboxes report every page as resident. Pages of a new sparse file must not be resident.
bool mincore_is_real() {
  std::FILE* file = std::tmpfile();
  if (!file) return true;  // nothing to test with
  constexpr off_t kBytes = 1 << 20;
  const bool made = ::ftruncate(::fileno(file), kBytes) == 0;
  const bool real = !made || count_pages(::fileno(file), kBytes).resident == 0;
  std::fclose(file);
  return real;
}

}  // namespace

void drop_from_page_cache(const FileList& files) {
  // Dirty pages can't be dropped. Fails on read-only mounts, which have none.
  for (const auto& file : files)
    if (const base::Descriptor opened = open_file(file); opened.number() >= 0) ::fdatasync(opened.number());
  drop_clean_pages(files);
}

void drop_clean_pages(const FileList& files) {
  for (const auto& file : files) {
    const base::Descriptor opened = open_file(file);
    if (opened.number() < 0) continue;
    if (const int code = ::posix_fadvise(opened.number(), 0, 0, POSIX_FADV_DONTNEED); code != 0)
      throw std::runtime_error(
          fmt::format("can't drop {} from the page cache: {}", file.string(), std::strerror(code)));
  }
}

std::optional<int64_t> read_ahead_kb(const std::filesystem::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return std::nullopt;
  std::ifstream setting(
      fmt::format("/sys/class/bdi/{}:{}/read_ahead_kb", major(facts.st_dev), minor(facts.st_dev)));
  int64_t kb = 0;
  return setting >> kb ? std::optional(kb) : std::nullopt;
}

std::string drop_metadata() {
  constexpr const char* kFile = "/proc/sys/vm/drop_caches";
  std::FILE* file = std::fopen(kFile, "we");
  if (!file) return fmt::format("{}: {}", kFile, std::strerror(errno));
  const bool written = std::fputs("2", file) >= 0;  // 2: reclaimable slab objects, no page cache
  const bool flushed = std::fclose(file) == 0;
  return written && flushed ? "" : fmt::format("{}: {}", kFile, std::strerror(errno));
}

void read_into_page_cache(const FileList& files) {
  constexpr size_t kChunk = 1 << 20;
  const auto buffer = std::make_unique_for_overwrite<uint8_t[]>(kChunk);
  for (const auto& file : files) {
    const base::Descriptor descriptor = open_file(file);
    if (descriptor.number() < 0) continue;
    ::posix_fadvise(descriptor.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
    ssize_t count;
    while ((count = ::read(descriptor.number(), buffer.get(), kChunk)) != 0)
      if (count < 0 && errno != EINTR)
        throw std::runtime_error(fmt::format("can't read {}: {}", file.string(), std::strerror(errno)));
  }
}

// mlock2() without flags is mlock(), which sanitizers replace by a function that does nothing.
std::shared_ptr<const void> lock_in_memory(const FileList& files) {
  constexpr size_t kMostFiles = 20'000;  // of the 65,530 mappings that Linux allows by default
  if (files.size() > kMostFiles) return nullptr;
  auto mapped = std::make_shared<std::vector<std::unique_ptr<MappedFile>>>();
  int64_t left = base::process_limits().free_memory_bytes / 2;
  for (const auto& file : files) {
    if (open_file(file).number() < 0) continue;
    const auto bytes =
        mapped->emplace_back(std::make_unique<MappedFile>(file, true, "check the file"))->bytes();
    left -= static_cast<int64_t>(bytes.size());
    if (left < 0 || (!bytes.empty() && ::mlock2(bytes.data(), bytes.size(), 0) != 0)) return nullptr;
  }
  return mapped;
}

std::optional<double> resident_share(const FileList& files) {
  static const bool real = mincore_is_real();
  if (!real) return std::nullopt;
  const bool any_owner = acts_as_owner_of_any_file();
  const size_t asked = std::min(files.size(), kMostFilesAsked);
  Pages total;
  for (size_t i = 0; i < asked; ++i) {
    const std::filesystem::path& file = files[i * files.size() / asked];
    const base::Descriptor descriptor = open_file(file);
    if (descriptor.number() < 0) continue;
    struct stat facts {};
    if (::fstat(descriptor.number(), &facts) != 0 || !is_told_the_truth(file, facts, any_owner))
      return std::nullopt;
    if (facts.st_size == 0) continue;
    const Pages pages = count_pages(descriptor.number(), static_cast<size_t>(facts.st_size));
    total.resident += pages.resident;
    total.all += pages.all;
  }
  if (total.all == 0) return std::nullopt;
  return static_cast<double>(total.resident) / static_cast<double>(total.all);
}

std::optional<int64_t> counter_of(std::istream&& io, const char* wanted) {
  int64_t bytes = 0;
  for (std::string key; io >> key >> bytes;)
    if (key == wanted) return bytes;
  return std::nullopt;
}

std::optional<int64_t> device_bytes_read() { return counter_of(std::ifstream("/proc/self/io"), kReadBytes); }

std::string remote_file_system(const std::filesystem::path& file) {
  static const std::map<uint32_t, std::string> kNames = {
      // linux/magic.h, and those of systems outside the kernel
      {0x6969, "NFS"},      {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},    {0x65735546, "FUSE"},
      {0x00c36400, "Ceph"}, {0x01021997, "9P"},   {0x0bd00bd0, "Lustre"}, {0x19830326, "BeeGFS"},
      {0x47504653, "GPFS"}, {0x5346414f, "AFS"}};
  struct statfs facts {};
  if (::statfs(file.c_str(), &facts) != 0) return "";
  const auto name = kNames.find(static_cast<uint32_t>(facts.f_type));
  return name == kNames.end() ? "" : name->second;
}

ThreadDeviceBytes::ThreadDeviceBytes()
    : counter_(::open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC)), last_(total()) {}

std::optional<int64_t> ThreadDeviceBytes::since_last() {
  const std::optional<int64_t> now = total();
  if (!now || !last_) return std::nullopt;
  return *now - *std::exchange(last_, now);
}

std::optional<int64_t> ThreadDeviceBytes::total() const {
  char text[512];
  const ssize_t count = counter_.number() < 0 ? -1 : ::pread(counter_.number(), text, sizeof text, 0);
  if (count <= 0) return std::nullopt;
  return counter_of(std::istringstream(std::string(text, size_t(count))), kReadBytes);
}

}  // namespace bench
