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

  // All ranks name the same file, which is made by whoever comes first. Throws std::runtime_error when it
  // can't be.
  Ledger(const std::filesystem::path& file, int rank, int ranks);
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
    std::vector<std::string> payloads;  // by rank
  };
  // Blocks until every rank has posted that collective. Numbers must be asked for in order, each once, by one
  // thread. Throws std::runtime_error when the ranks posted different collectives, or after `timeout`.
  Meeting meet(uint64_t number, Nanoseconds timeout);

 private:
  struct Cell;
  struct Shared;
  Cell& cell(uint64_t number, int rank) const;
  void wait_for_bell(uint32_t seen) const;
  void ring() const;

  const std::filesystem::path file_;
  const int rank_, ranks_;
  Shared* shared_ = nullptr;
  size_t bytes_ = 0;
  uint64_t posted_ = 0;
};

}  // namespace bench
