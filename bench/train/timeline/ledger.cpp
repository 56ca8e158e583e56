// Keeps a ring of slots in a memory-mapped file, with atomic counters and futexes to wait on.
#include "bench/train/timeline/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <stdexcept>

#include "harness/base/file.h"

namespace bench {

constexpr uint64_t kSlots = 64;  // collectives that may be under way at once
constexpr size_t kLongestWhat = 80;

// Where the collectives 0, kSlots, 2 kSlots, ... meet one after another (or 1, kSlots + 1, ...). The counters
// only grow. All zero is a valid, empty ledger: a new file needs no other beginning.
struct alignas(64) Ledger::Slot {
  std::atomic<uint32_t> posts, reads;  // futexes: woken by the last poster, and by the last reader
};

// What one rank posted.
struct alignas(64) Ledger::Cell {
  std::atomic<uint64_t> posted;  // number + 1 of the collective that was put here last
  Nanoseconds ready, posted_at;
  uint64_t payload_bytes;
  char what[kLongestWhat];
  char payload[];
};

static size_t in_whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns when `counter` has reached `count`, or after 100 ms: a wake-up may be missed where the memory isn't
// coherent at once.
static bool wait_for(std::atomic<uint32_t>& counter, uint32_t count) {
  const uint32_t seen = counter.load(std::memory_order_acquire);
  if (seen >= count) return true;
  const timespec slice{0, 100'000'000};
  ::syscall(SYS_futex, &counter, FUTEX_WAIT, seen, &slice, nullptr, 0);
  return counter.load(std::memory_order_acquire) >= count;
}

// Wakes those that wait for `count`, so that each of them wakes up once.
static void add_one(std::atomic<uint32_t>& counter, uint32_t count) {
  if (counter.fetch_add(1, std::memory_order_acq_rel) + 1 == count)
    ::syscall(SYS_futex, &counter, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Ledger::Ledger(const std::filesystem::path& file, int rank, int ranks, size_t payload_bytes, int posters)
    : file_(file),
      rank_(rank),
      ranks_(ranks),
      posters_(posters),
      payload_bytes_(payload_bytes),
      cell_bytes_(in_whole_lines(sizeof(Cell) + payload_bytes)),
      slot_bytes_(sizeof(Slot) + cell_bytes_ * size_t(posters)) {
  bytes_ = slot_bytes_ * kSlots;
  const base::Descriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  void* memory = MAP_FAILED;
  if (opened.number() >= 0 && ::ftruncate(opened.number(), off_t(bytes_)) == 0)
    memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, opened.number(), 0);
  if (memory == MAP_FAILED)
    throw std::runtime_error(
        fmt::format("{}: the ranks' shared ledger can't be made: {}", file.string(), std::strerror(errno)));
  shared_ = static_cast<char*>(memory);
}

Ledger::~Ledger() {
  ::munmap(shared_, bytes_);
  std::error_code error;
  std::filesystem::remove(file_, error);  // others that still have it mapped keep it
}

Ledger::Slot& Ledger::slot(uint64_t number) const {
  return *reinterpret_cast<Slot*>(shared_ + number % kSlots * slot_bytes_);
}

Ledger::Cell& Ledger::cell(uint64_t number, int poster) const {
  return *reinterpret_cast<Cell*>(shared_ + number % kSlots * slot_bytes_ + sizeof(Slot) +
                                  size_t(poster) * cell_bytes_);
}

uint64_t Ledger::post(const std::string& what, Nanoseconds ready, std::span<const char> payload) {
  if (payload.size() > payload_bytes_)
    throw std::invalid_argument(
        fmt::format("{}: {} bytes of values, but a ledger of emulated collectives carries {}", what,
                    payload.size(), payload_bytes_));
  const uint64_t number = posted_++;
  const auto before = uint32_t(number / kSlots);  // collectives that the slot has held
  // What was here before must have been read by everybody.
  while (!wait_for(slot(number).reads, before * uint32_t(ranks_))) continue;
  Cell& mine = cell(number, rank_);
  mine.ready = ready;
  mine.posted_at = steady_now();
  mine.payload_bytes = payload.size();
  if (!payload.empty()) std::memcpy(mine.payload, payload.data(), payload.size());
  std::snprintf(mine.what, kLongestWhat, "%s", what.c_str());
  mine.posted.store(number + 1, std::memory_order_release);
  add_one(slot(number).posts, (before + 1) * uint32_t(posters_));
  return number;
}

Ledger::Meeting Ledger::meet(uint64_t number, Nanoseconds timeout) {
  const Nanoseconds give_up = steady_now() + timeout;
  const auto after = uint32_t(number / kSlots) + 1;
  while (!wait_for(slot(number).posts, after * uint32_t(posters_))) {
    if (steady_now() <= give_up) continue;
    int missing = 0;
    while (missing < posters_ - 1 && cell(number, missing).posted == number + 1) ++missing;
    throw std::runtime_error(fmt::format("rank {} waited {} s for rank {} at collective {} ({})", rank_,
                                         timeout / 1'000'000'000, missing, number,
                                         cell(number, std::min(rank_, posters_ - 1)).what));
  }
  Meeting meeting;
  for (int other = 0; other < posters_; ++other) {
    const Cell &theirs = cell(number, other), &first = cell(number, 0);
    if (std::strcmp(theirs.what, first.what) != 0)
      throw std::runtime_error(
          fmt::format("collective {} is {} on rank 0, but {} on rank {}: ranks must call the "
                      "same collectives in the same order",
                      number, first.what, theirs.what, other));
    meeting.ready = std::max(meeting.ready, theirs.ready);
    meeting.posted_at = std::max(meeting.posted_at, theirs.posted_at);
    meeting.payloads.emplace_back(theirs.payload, theirs.payload_bytes);
  }
  pass(number);
  return meeting;
}

void Ledger::pass(uint64_t number) {
  add_one(slot(number).reads, uint32_t(number / kSlots + 1) * uint32_t(ranks_));
}

}  // namespace bench
