// The progress of each rank, in a small memory-mapped file: ranks write it without system calls, the harness
// polls it.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/contract/codec.h"

namespace harness {

// Why a rank ended by itself, as it says in its slot below and in rank-N.error.json.
struct WhyEnded {
  std::string status = "CRASHED", reason;
  KEYS(WhyEnded, KEY(status, "as in the record"), KEY(reason, "as in the record"));
};

enum class RankState : uint32_t { starting = 0, warming_up = 1, timing = 2, finishing = 3, done = 4 };

struct ProgressSlot {
  std::atomic<uint64_t> batches;  // batches finished, including warm-up; also the watchdog's heartbeat
  std::atomic<uint32_t> state;    // RankState
  std::atomic<int32_t> pid;       // pid of the rank, set by record_process()
  std::atomic<uint64_t> machine;  // and container of the rank, set by record_process()
  char pad[40];                   // keeps the members above, which change often, in a separate cache line
  // A WhyEnded as JSON. Kept here because this memory is allocated before the row begins, and the reason may
  // be a full disk, where the rank can't write a file.
  char why_ended[960];
};
static_assert(sizeof(ProgressSlot) == 1024);

// Hash of the kernel's boot id: equal for all processes of this machine, in all namespaces.
uint64_t this_machine();
// record_process() stores a rank's pid, as this process sees it, and where it counts. pid_here() returns that
// pid if it counts here: on this machine and in this container; otherwise 0.
void record_process(ProgressSlot& slot, pid_t pid);
pid_t pid_here(const ProgressSlot& slot);
// Text that is too long is cut off.
void set_why_ended(ProgressSlot& slot, const std::string& text);
std::string why_ended(const ProgressSlot& slot);

class Progress {
 public:
  // ranks > 0: creates the file with this number of zeroed slots; 0: opens an existing file. Throws
  // std::runtime_error.
  Progress(const std::filesystem::path& file, int ranks);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ProgressSlot& slot(int rank) { return slots_[rank]; }
  const ProgressSlot& slot(int rank) const { return slots_[rank]; }
  int ranks() const { return ranks_; }

 private:
  ProgressSlot* slots_ = nullptr;
  int ranks_ = 0;
};

}  // namespace harness
