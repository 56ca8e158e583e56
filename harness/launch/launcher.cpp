// Polls the ranks every 20 ms, and ends the row after a failure, an interrupt, a timeout or long silence.
#include "harness/launch/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/base/interrupt.h"
#include "harness/base/stopwatch.h"
#include "harness/contract/machine.h"
#include "harness/launch/row_processes.h"

namespace harness {

using Clock = std::chrono::steady_clock;
constexpr auto kLauncherPoll = std::chrono::milliseconds(20);
constexpr auto kTick = std::chrono::milliseconds(200);
constexpr double kSlowBatches = 5;                // longest silence, in multiples of the longest batch so far
constexpr auto kGrace = std::chrono::seconds(2);  // for the other ranks after one has failed
constexpr double kDeadlock_s = 20;  // until ranks that wait for a deadlocked mpirun are given up
constexpr auto kLauncherEnds = std::chrono::seconds(3);  // for mpirun and srun after all ranks have ended

namespace {

// Measures the time since any rank last finished a batch or changed its state.
class Heartbeat {
 public:
  explicit Heartbeat(Progress& progress) : progress_(progress), seen_(size_t(progress.ranks())) {}
  double silence_s() {
    for (int rank = 0; rank < progress_.ranks(); ++rank) {
      const uint64_t now = progress_.slot(rank).batches * 8 + progress_.slot(rank).state;
      if (now == seen_[size_t(rank)]) continue;
      if (started()) longest_s_ = std::max(longest_s_, since_.s());
      seen_[size_t(rank)] = now;
      since_ = {};
      any_ = true;
    }
    return since_.s();
  }
  bool seen() const { return any_; }  // some rank has written to the progress file
  double longest_batch_s() const { return longest_s_; }
  bool started() const {
    for (uint64_t value : seen_)
      if (value < 8) return false;  // a rank without a finished batch
    return true;
  }

 private:
  Progress& progress_;
  std::vector<uint64_t> seen_;
  base::Stopwatch since_;
  double longest_s_ = 0;
  bool any_ = false;
};

}  // namespace

static bool all_done(Progress& progress) {
  for (int rank = 0; rank < progress.ranks(); ++rank)
    if (progress.slot(rank).state != uint32_t(RankState::done)) return false;
  return true;
}

Outcome run_ranks(const Launch& launch, Progress& progress, const TimeLimits& limits,
                  const std::filesystem::path& directory, const std::function<void()>& tick) {
  Outcome outcome;
  const Disturbance disturbance;
  const base::Stopwatch stopwatch;
  RowProcesses processes(launch, progress, directory);
  Heartbeat heartbeat(progress);
  auto last_tick = Clock::now();
  Clock::time_point failed_at{};
  auto ranks_seen = last_tick;  // last time a rank ran, or not all had registered yet
  while (true) {
    processes.reap();
    outcome.wall_s = stopwatch.s();
    if (!processes.running()) break;
    if (processes.first_failure() >= 0) {
      if (failed_at == Clock::time_point{}) failed_at = Clock::now();
      if (Clock::now() - failed_at > kGrace) break;
    }
    if (base::interrupted()) {
      outcome.status = "INTERRUPTED";
      outcome.interrupted = true;
      return outcome;
    }
    const double silence = heartbeat.silence_s();
    const double allowed = heartbeat.started()
                               ? std::max(limits.silence_s, kSlowBatches * heartbeat.longest_batch_s())
                               : limits.start_s;
    const bool seen = launch.launcher == "local" || launch.command_per_rank || heartbeat.seen();
    if (seen && processes.first_failure() < 0 && silence > allowed) {
      outcome.stacks = processes.stacks();
      explain_hang(outcome, progress, silence, allowed);
      return outcome;
    }
    if (limits.timeout_s > 0 && outcome.wall_s > limits.timeout_s) {
      outcome.status = "TIMEOUT";
      outcome.reason =
          fmt::format("not finished after {:g} s; --timeout sets the time limit of a row", limits.timeout_s);
      return outcome;
    }
    if (Clock::now() - last_tick >= kTick) {
      last_tick = Clock::now();
      outcome.max_rss_bytes = std::max(outcome.max_rss_bytes, processes.memory());
      tick();
      if (!heartbeat.seen() && silence > kDeadlock_s && explain_deadlock(outcome, launch)) return outcome;
      if (launch.command_per_rank || !processes.ranks_are_gone()) ranks_seen = last_tick;
      if (last_tick - ranks_seen > kLauncherEnds) {
        if (!all_done(progress)) explain_missing_ranks(outcome, launch, progress, directory);
        return outcome;
      }
    }
    std::this_thread::sleep_for(kLauncherPoll);
  }
  // A wrapping debugger may end with an error because the program ended normally.
  const bool well_done = !launch.wrap.empty() && all_done(progress);
  if (processes.first_failure() >= 0 && !well_done)
    explain_failure(outcome, processes, launch, progress, directory, disturbance.memory_ran_out());
  return outcome;
}

}  // namespace harness
