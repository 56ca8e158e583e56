// The ledger of an emulated node's collectives: what each rank posted and when its device was ready for it,
// in memory that the ranks of a node share. Ranks post without waiting for each other; all of them compute
// the same begin.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/train/timeline/timelines.h"

namespace bench {

class Ledger {
 public:
  static constexpr size_t kPayloadBytes = 16 << 10;  // values that really travel: indices, flags, counters

  // All ranks name the same file, which is made by whoever comes first, and the same numbers. payload_bytes:
  // the largest payload. posters: so many ranks, the first ones, post; all of them read. Throws
  // std::runtime_error when the file can't be made.
  Ledger(const std::filesystem::path& file, int rank, int ranks, size_t payload_bytes, int posters);
  Ledger(const std::filesystem::path& file, int rank, int ranks)
      : Ledger(file, rank, ranks, kPayloadBytes, ranks) {}
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // This rank's next collective. Collectives of one ledger have the same order on all ranks (as NCCL's of a
  // communicator). what: kind and bytes, for example `all_reduce of 1024 bytes`; it must be the same on all
  // ranks. ready: when this rank's stream reaches it. Returns its number. Throws std::invalid_argument for a
  // larger payload.
  uint64_t post(const std::string& what, Nanoseconds ready, std::span<const char> payload = {});

  struct Meeting {
    Nanoseconds ready = 0;              // of the last rank
    Nanoseconds posted_at = 0;          // in real time, by the last rank
    std::vector<std::string> payloads;  // by poster
  };
  // Blocks until every poster has posted that collective. Numbers must be asked for in order, each once, by
  // one thread. Throws std::runtime_error when the ranks posted different collectives, or after `timeout`.
  Meeting meet(uint64_t number, Nanoseconds timeout);
  // Instead of meet(), when this rank doesn't need to know; returns at once.
  void pass(uint64_t number);

 private:
  struct Cell;
  struct Slot;
  Slot& slot(uint64_t number) const;
  Cell& cell(uint64_t number, int poster) const;

  const std::filesystem::path file_;
  const int rank_, ranks_, posters_;
  const size_t payload_bytes_, cell_bytes_, slot_bytes_;
  char* shared_ = nullptr;
  size_t bytes_ = 0;
  uint64_t posted_ = 0;
};

}  // namespace bench
