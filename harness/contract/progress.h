// How far each rank is: a small shared file that ranks write without system calls and the harness polls.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

namespace harness {

enum class RankState : uint32_t { starting = 0, warming_up = 1, timing = 2, finishing = 3, done = 4 };

struct ProgressSlot {
  std::atomic<uint64_t> batches;  // batches finished, warm-up included; also the watchdog's heartbeat
  std::atomic<uint32_t> state;    // RankState
  std::atomic<int32_t> pid;       // of the rank's process, from record_process() on
  std::atomic<uint64_t> machine;  // that it runs on
  char pad[40];                   // the above change often: a cache line of their own
  // Why the rank ended by itself: JSON with status and reason. Here, because room for it was allocated before
  // the row began: the reason may be a full disk, on which no file of the rank's can say so.
  char why_ended[960];
};
static_assert(sizeof(ProgressSlot) == 1024);

// The same for all processes since this machine's start, whatever namespaces they live in.
uint64_t this_machine();
// A rank writes down which process it is; pid_here() is that process if it runs on this machine, else 0.
void record_process(ProgressSlot& slot);
pid_t pid_here(const ProgressSlot& slot);
// `text` is cut off where it is too long.
void set_why_ended(ProgressSlot& slot, const std::string& text);
std::string why_ended(const ProgressSlot& slot);

class Progress {
 public:
  // ranks > 0 creates the file with that many zeroed slots; 0 opens an existing one.
  Progress(const std::filesystem::path& file, int ranks);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ProgressSlot& slot(int rank) { return slots_[rank]; }
  int ranks() const { return ranks_; }

 private:
  ProgressSlot* slots_ = nullptr;
  int ranks_ = 0;
};

}  // namespace harness
