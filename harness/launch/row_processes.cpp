// Starts the commands, collects exit codes, sums the ranks' memory, and ends what is left.
#include "harness/launch/row_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>
#include <thread>

#include "harness/base/file.h"

namespace harness {

using Clock = std::chrono::steady_clock;
constexpr auto kProcessPoll = std::chrono::milliseconds(20);
constexpr auto kPatience = std::chrono::seconds(3);  // time in which mpirun and srun may end remote ranks
constexpr auto kFarewell =
    std::chrono::seconds(1);  // time for processes that a successful mpirun leaves behind

// What the lines with these keys, which the kernel writes in KiB, add up to.
static int64_t bytes_of(pid_t pid, const char* file, std::initializer_list<std::string_view> keys) {
  std::ifstream sizes(fmt::format("/proc/{}/{}", pid, file));
  int64_t bytes = 0;
  for (std::string line; std::getline(sizes, line);)
    for (const std::string_view key : keys)
      if (line.starts_with(key)) bytes += std::strtoll(line.c_str() + key.size(), nullptr, 10) * 1024;
  return bytes;
}

RowProcesses::RowProcesses(const Launch& launch, Progress& progress, const std::filesystem::path& directory)
    : launch_(launch), progress_(progress), directory_(directory), ends_(launch.commands.size()) {
  pids_ = base::start_in_session(launch.commands);
  // For a rank that doesn't say so itself (bench/twin).
  for (int rank = 0; launch.command_per_rank && rank < progress.ranks(); ++rank)
    if (ProgressSlot& slot = progress.slot(rank); slot.pid == 0) record_process(slot, pids_[size_t(rank)]);
}

RowProcesses::~RowProcesses() { end_all(); }

void RowProcesses::reap() {
  for (size_t i = 0; i < pids_.size(); ++i) {
    int status = 0;
    if (pids_[i] == 0 || ::waitpid(pids_[i], &status, WNOHANG) != pids_[i]) continue;
    pids_[i] = 0;
    ends_[i] = status;
    // A signal takes precedence over an exit code: ranks connected to a killed rank may be reaped before it.
    if (status != 0 &&
        (first_failure_ < 0 || (WIFSIGNALED(status) && !WIFSIGNALED(ends_[size_t(first_failure_)]))))
      first_failure_ = int(i);
  }
}

bool RowProcesses::running() const {
  return std::ranges::any_of(pids_, [](pid_t pid) { return pid != 0; });
}

// Of processes that share pages, each page counts once: a fork shares its parent's, and a ring lies in shared
// memory.
static int64_t proportional_bytes(pid_t pid) {
  return bytes_of(pid, "smaps_rollup", {"Pss_Anon:", "Pss_Shmem:"});
}

int64_t RowProcesses::memory() const {
  int64_t bytes = 0;
  for (pid_t pid : ranks()) {
    const std::vector<pid_t> started = base::descendants_of(pid);
    bytes += started.empty() ? bytes_of(pid, "status", {"RssAnon:"}) : proportional_bytes(pid);
    for (const pid_t one : started) bytes += proportional_bytes(one);
  }
  return bytes;
}

std::vector<std::string> RowProcesses::stacks() const {
  const std::vector<pid_t> ranks_here = ranks();
  for (pid_t pid : ranks_here) ::kill(pid, SIGUSR2);
  if (ranks_here.empty())  // mpirun and srun forward the signal to remote ranks
    for (pid_t pid : pids_)
      if (pid != 0) ::kill(pid, SIGUSR2);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  std::vector<std::string> texts;
  for (int rank = 0; rank < progress_.ranks(); ++rank)
    texts.push_back(base::last_lines(directory_ / fmt::format("rank-{}.stderr", rank), 40, "\n") +
                    last_collectives(directory_ / fmt::format("rank-{}.flight.json", rank)));
  return texts;
}

bool RowProcesses::ranks_are_gone() const {
  for (int rank = 0; rank < progress_.ranks(); ++rank) {
    const pid_t pid = pid_here(progress_.slot(rank));
    if (pid == 0 || base::is_running(pid)) return false;
  }
  return true;
}

// Pids of the ranks that still run on this machine.
std::vector<pid_t> RowProcesses::ranks() const {
  std::vector<pid_t> pids;
  for (int rank = 0; rank < progress_.ranks(); ++rank) {
    const ProgressSlot& slot = progress_.slot(rank);
    const pid_t pid = pid_here(slot);
    if (pid != 0 && slot.state != uint32_t(RankState::done) && ::kill(pid, 0) == 0) pids.push_back(pid);
  }
  return pids;
}

// Sends SIGTERM and waits, so that mpirun and srun can end ranks on other machines.
void RowProcesses::end_gently() {
  const auto begin = Clock::now();
  for (pid_t pid : pids_)
    if (pid != 0) ::kill(pid, SIGTERM);
  while (running() && Clock::now() - begin < kPatience) {
    std::this_thread::sleep_for(kProcessPoll);
    reap();
  }
}

void RowProcesses::end_all() {
  const bool ended_well = !running() && first_failure_ < 0;
  if (!launch_.command_per_rank) {
    end_gently();
    for (pid_t pid : ranks()) ::kill(pid, SIGKILL);  // ranks of srun are children of Slurm's daemon
  }
  for (pid_t& pid : pids_) {
    if (pid == 0) continue;
    ::kill(-pid, SIGKILL);
    pid = 0;  // reaped below, with a time limit
  }
  descendants_.end(ended_well ? kFarewell : std::chrono::seconds(0));
}

}  // namespace harness
