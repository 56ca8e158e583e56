// Uses mmap() and madvise(), and finds the mappings of other libraries in /proc/self/maps.
#include "bench/formats/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bench/formats/packed_copy.h"
#include "harness/base/file.h"

namespace bench {

MappedFile::MappedFile(const std::filesystem::path& file, bool readahead, const std::string& next_step)
    : readahead_(readahead) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("can't open {}: {}; {}", file.string(), why, next_step));
  };
  const base::RegularFile opened = base::RegularFile::open(file.c_str());
  if (!opened.is_open()) fail(opened.why);
  if (opened.bytes == 0) return;  // mmap refuses length 0
  const auto size = static_cast<size_t>(opened.bytes);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.descriptor.number(), 0);
  if (memory == MAP_FAILED) fail(std::strerror(errno));
  if (!readahead) ::madvise(memory, size, MADV_RANDOM);
  bytes_ = {static_cast<const uint8_t*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

void MappedFile::will_need(size_t offset, size_t count) const {
  if (!readahead_ || offset >= bytes_.size()) return;
  const size_t begin = offset - offset % static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t end = offset + std::min(count, bytes_.size() - offset);
  ::madvise(const_cast<uint8_t*>(bytes_.data()) + begin, end - begin, MADV_WILLNEED);  // a hint: may fail
}

void release_pages(std::span<const uint8_t> mapping) {
  if (!mapping.empty())
    ::madvise(const_cast<uint8_t*>(mapping.data()), mapping.size(), MADV_DONTNEED);  // can't fail for these
}

namespace {

struct Mapping {
  uintptr_t begin = 0, end = 0;
  std::string path;
  bool readable = false;
};

}  // namespace

// The first mapping of this process that is wanted.
template <class Wanted>
static Mapping mapping_where(const Wanted& wanted) {
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    // begin-end permissions offset device inode path
    std::istringstream fields(line);
    Mapping one;
    std::string permissions, offset, device, inode;
    if (!(fields >> std::hex >> one.begin)) continue;
    fields.ignore(1, '-');
    if (!(fields >> one.end >> permissions >> offset >> device >> inode) ||
        !std::getline(fields >> std::ws, one.path))
      continue;
    one.readable = permissions.starts_with("r-");
    if (wanted(one)) return one;
  }
  return {};
}

std::span<const uint8_t> mapping_of(const std::filesystem::path& file) {
  const std::string name = std::filesystem::canonical(file);
  const Mapping found = mapping_where([&](const Mapping& one) { return one.readable && one.path == name; });
  return {reinterpret_cast<const uint8_t*>(found.begin), found.end - found.begin};
}

std::string why_lost(const void* address, const std::string& storage, const std::string& location) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const std::string file =
      mapping_where([&](const Mapping& one) { return one.begin <= at && at < one.end; }).path;
  return fmt::format("{}: became shorter while it was read, or its disk is full or broken; {}",
                     file.empty() ? "memory without a file" : file,
                     !location.empty() && file.starts_with(location) ? pack_again(storage, location)
                                                                     : "check the file and its disk");
}

void touch_pages(std::span<const uint8_t> bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const volatile uint8_t* const first = bytes.data();
  for (size_t offset = 0; offset < bytes.size(); offset += page) static_cast<void>(first[offset]);
  if (!bytes.empty())
    static_cast<void>(first[bytes.size() - 1]);  // the last page, if the first isn't aligned
}

}  // namespace bench
