#include "bench/train/timeline/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <stdexcept>

namespace bench {

constexpr uint64_t kSlots = 64;  // collectives that may be under way at once
constexpr size_t kLongestWhat = 80;

// All zero is a valid, empty ledger: a new file needs no other beginning.
struct alignas(64) Ledger::Cell {
  std::atomic<uint64_t> posted,
      read;  // number + 1 of the collective that was put here, and taken from here last
  Nanoseconds ready;
  uint64_t payload_bytes;
  char what[kLongestWhat];
  char payload[kPayloadBytes];
};

struct Ledger::Shared {
  std::atomic<uint32_t> bell;  // a futex: changes with every post and every read
  alignas(64) Cell cells[];
};

Ledger::Ledger(const std::filesystem::path& file, int rank, int ranks)
    : file_(file), rank_(rank), ranks_(ranks) {
  bytes_ = sizeof(Shared) + sizeof(Cell) * kSlots * size_t(ranks);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, off_t(bytes_)) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    throw std::runtime_error(
        fmt::format("{}: the ranks' shared ledger can't be made: {}", file.string(), std::strerror(error)));
  }
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  if (memory == MAP_FAILED)
    throw std::runtime_error(
        fmt::format("{}: the ranks' shared ledger can't be mapped: {}", file.string(), std::strerror(error)));
  shared_ = static_cast<Shared*>(memory);
}

Ledger::~Ledger() {
  ::munmap(shared_, bytes_);
  std::error_code error;
  std::filesystem::remove(file_, error);  // others that still have it mapped keep it
}

Ledger::Cell& Ledger::cell(uint64_t number, int rank) const {
  return shared_->cells[number % kSlots * size_t(ranks_) + size_t(rank)];
}

void Ledger::ring() const {
  ++shared_->bell;
  ::syscall(SYS_futex, &shared_->bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Ledger::wait_for_bell(uint32_t seen) const {
  const timespec slice{0, 100'000'000};  // a wake-up may be missed where the memory isn't coherent at once
  ::syscall(SYS_futex, &shared_->bell, FUTEX_WAIT, seen, &slice, nullptr, 0);
}

uint64_t Ledger::post(const std::string& what, Nanoseconds ready, std::span<const char> payload) {
  if (payload.size() > kPayloadBytes)
    throw std::invalid_argument(
        fmt::format("{}: {} bytes of values, but a ledger of emulated collectives carries {}", what,
                    payload.size(), kPayloadBytes));
  const uint64_t number = posted_++;
  Cell& mine = cell(number, rank_);
  // What was here before must have been read by everybody.
  for (int other = 0; other < ranks_; ++other)
    for (uint32_t seen = shared_->bell; number >= kSlots && cell(number, other).read <= number - kSlots;
         seen = shared_->bell)
      wait_for_bell(seen);
  mine.ready = ready;
  mine.payload_bytes = payload.size();
  if (!payload.empty()) std::memcpy(mine.payload, payload.data(), payload.size());
  std::snprintf(mine.what, kLongestWhat, "%s", what.c_str());
  mine.posted.store(number + 1, std::memory_order_release);
  ring();
  return number;
}

Ledger::Meeting Ledger::meet(uint64_t number, Nanoseconds timeout) {
  const Nanoseconds give_up = steady_now() + timeout;
  Meeting meeting;
  for (int other = 0; other < ranks_; ++other) {
    Cell& theirs = cell(number, other);
    for (uint32_t seen = shared_->bell; theirs.posted.load(std::memory_order_acquire) != number + 1;
         seen = shared_->bell) {
      if (steady_now() > give_up)
        throw std::runtime_error(fmt::format("rank {} waited {} s for rank {} at collective {} ({})", rank_,
                                             timeout / 1'000'000'000, other, number,
                                             cell(number, rank_).what));
      wait_for_bell(seen);
    }
    if (std::strcmp(theirs.what, cell(number, rank_).what) != 0)
      throw std::runtime_error(
          fmt::format("collective {} is {} on rank {}, but {} on rank {}: ranks must call the "
                      "same collectives in the same order",
                      number, cell(number, rank_).what, rank_, theirs.what, other));
    meeting.ready = std::max(meeting.ready, theirs.ready);
    meeting.payloads.emplace_back(theirs.payload, theirs.payload_bytes);
  }
  cell(number, rank_).read = number + 1;
  ring();
  return meeting;
}

}  // namespace bench
