#include "bench/storage/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "bench/storage/file_reader.h"

namespace bench {

MappedFile::MappedFile(const std::filesystem::path& file, bool readahead, const std::string& next_step)
    : readahead_(readahead) {
  const auto fail = [&](const char* why) {
    throw std::runtime_error(fmt::format("can't open {}: {}; {}", file.string(), why, next_step));
  };
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (descriptor.number() < 0 || ::fstat(descriptor.number(), &facts) != 0) fail(std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) fail("not a regular file");
  if (facts.st_size == 0) return;  // mmap refuses it
  const auto size = static_cast<size_t>(facts.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.number(), 0);
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

}  // namespace bench
