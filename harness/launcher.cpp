#include "harness/launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "harness/interrupt.h"
#include "harness/machine.h"

namespace harness {

using Clock = std::chrono::steady_clock;
constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kTick = std::chrono::milliseconds(200);
constexpr double kSlowBatches = 5;  // silence of so many of the longest batches is no slowness any more
constexpr auto kPatience = std::chrono::seconds(3);  // for mpirun and srun, to end ranks on other machines
constexpr auto kGrace = std::chrono::seconds(2);     // for the other ranks, once one has failed

static double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Text, because stderr of a crashing program may hold anything.
static std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) {
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = ' ';
    if (line.find_first_not_of(" -") != std::string::npos)
      all.push_back(line);  // mpirun draws lines around words
  }
  return all;
}

static std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  const std::vector<std::string> all = lines_of(file);
  return fmt::format(
      "{}", fmt::join(all.begin() + long(all.size() - std::min(lines, all.size())), all.end(), separator));
}

// mpirun and srun say first what is wrong and then what it may have come from.
static std::string first_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  const std::vector<std::string> all = lines_of(file);
  return fmt::format("{}",
                     fmt::join(all.begin(), all.begin() + long(std::min(lines, all.size())), separator));
}

static int64_t anonymous_bytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0) return std::strtoll(line.c_str() + 8, nullptr, 10) * 1024;
  return 0;
}

namespace {

// The processes of a row: the commands that were started and, once they have introduced themselves, the
// ranks.
class Processes {
 public:
  Processes(const Launch& launch, Progress& progress, const std::filesystem::path& directory)
      : launch_(launch),
        progress_(progress),
        directory_(directory),
        pids_(launch.commands.size(), 0),
        ends_(launch.commands.size()) {
    try {
      for (size_t i = 0; i < pids_.size(); ++i) pids_[i] = start(launch.commands[i]);
    } catch (...) {
      kill_all();
      throw;
    }
  }
  ~Processes() { kill_all(); }

  // Notes which commands have ended.
  void reap() {
    for (size_t i = 0; i < pids_.size(); ++i) {
      int status = 0;
      if (pids_[i] == 0 || ::waitpid(pids_[i], &status, WNOHANG) != pids_[i]) continue;
      pids_[i] = 0;
      ends_[i] = status;
      // A signal outranks an exit code: ranks that talked to the one that is gone may end before it is
      // reaped.
      if (status != 0 &&
          (first_failure_ < 0 || (WIFSIGNALED(status) && !WIFSIGNALED(ends_[size_t(first_failure_)]))))
        first_failure_ = int(i);
    }
  }
  bool running() const {
    return std::any_of(pids_.begin(), pids_.end(), [](pid_t pid) { return pid != 0; });
  }
  int first_failure() const { return first_failure_; }  // number of the command, -1: none so far
  int end_of(int command) const { return ends_[size_t(command)]; }
  int64_t memory() const {
    int64_t bytes = 0;
    for (pid_t pid : ranks()) bytes += anonymous_bytes(pid);
    return bytes;
  }
  std::vector<std::string> stacks() const {
    const std::vector<pid_t> ranks_here = ranks();
    for (pid_t pid : ranks_here) ::kill(pid, SIGUSR2);
    if (ranks_here.empty())  // mpirun and srun hand the signal on to ranks elsewhere
      for (pid_t pid : pids_)
        if (pid != 0) ::kill(pid, SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    std::vector<std::string> texts;
    for (int rank = 0; rank < progress_.ranks(); ++rank)
      texts.push_back(last_lines(directory_ / fmt::format("rank-{}.stderr", rank), 40, "\n"));
    return texts;
  }
  void kill_all() {
    if (!launch_.command_per_rank) end_gently();
    for (pid_t pid : ranks()) ::kill(pid, SIGKILL);
    for (pid_t& pid : pids_) {
      if (pid == 0) continue;
      ::kill(-pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      pid = 0;
    }
  }

 private:
  // Ranks on this machine that haven't ended.
  std::vector<pid_t> ranks() const {
    std::vector<pid_t> pids;
    for (int rank = 0; rank < progress_.ranks(); ++rank) {
      const ProgressSlot& slot = progress_.slot(rank);
      const pid_t pid = pid_here(slot);
      if (pid != 0 && slot.state != uint32_t(RankState::done) && ::kill(pid, 0) == 0) pids.push_back(pid);
    }
    return pids;
  }
  // mpirun and srun end the ranks that they have started on other machines, if they are given the time.
  void end_gently() {
    const auto begin = Clock::now();
    for (pid_t pid : pids_)
      if (pid != 0) ::kill(pid, SIGTERM);
    while (running() && Clock::now() - begin < kPatience) {
      std::this_thread::sleep_for(kPoll);
      reap();
    }
  }

  const Launch& launch_;
  Progress& progress_;
  const std::filesystem::path directory_;
  std::vector<pid_t> pids_;
  std::vector<int> ends_;
  int first_failure_ = -1;
};

// Whether some rank has finished a batch, or changed its state, since the last look.
class Heartbeat {
 public:
  explicit Heartbeat(Progress& progress)
      : progress_(progress), seen_(size_t(progress.ranks())), since_(Clock::now()) {}
  double silence_s() {
    for (int rank = 0; rank < progress_.ranks(); ++rank) {
      const uint64_t now = progress_.slot(rank).batches * 8 + progress_.slot(rank).state;
      if (now == seen_[size_t(rank)]) continue;
      if (started()) longest_s_ = std::max(longest_s_, seconds_since(since_));
      seen_[size_t(rank)] = now;
      since_ = Clock::now();
      any_ = true;
    }
    return seconds_since(since_);
  }
  bool seen() const { return any_; }  // some rank has shown itself in the progress file
  double longest_batch_s() const { return longest_s_; }
  bool started() const {
    for (uint64_t value : seen_)
      if (value < 8) return false;  // a rank without a finished batch
    return true;
  }

 private:
  Progress& progress_;
  std::vector<uint64_t> seen_;
  Clock::time_point since_;
  double longest_s_ = 0;
  bool any_ = false;
};

}  // namespace

// The words of the rank that wrote down first why it ended; others may have failed because it was gone.
static bool explain_by_rank(Outcome& outcome, int ranks, const std::filesystem::path& directory) {
  std::filesystem::file_time_type first;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto file = directory / fmt::format("rank-{}.error.json", rank);
    std::error_code missing;
    const auto written = std::filesystem::last_write_time(file, missing);
    if (missing || (!outcome.reason.empty() && written >= first)) continue;
    std::ifstream stream(file);
    const auto error = nlohmann::json::parse(stream, nullptr, false);
    if (!error.is_object()) continue;
    first = written;
    outcome.status = error.value("status", "CRASHED");
    outcome.reason = (ranks > 1 ? fmt::format("rank {}: ", rank) : "") + error.value("reason", "");
  }
  return !outcome.reason.empty();
}

// What mpirun and srun say of a rank that a signal ended: its number, and the signal as they name it.
static std::string rank_ended_by_signal(const std::string& text) {
  static const std::regex mpirun(R"(process rank (\d+) .*exited on signal (\d+ \([^)]*\)))"),
      srun(R"(task (\d+): (Killed|Segmentation fault|Aborted|Bus error))");
  std::smatch found;
  if (std::regex_search(text, found, mpirun) || std::regex_search(text, found, srun))
    return fmt::format("rank {}: ended by signal {}", found[1].str(), found[2].str());
  return "";
}

// What the shell says of a program that it can't find; mpirun and srun hand on other exit codes than its own.
static std::string missing_wrapper(const Launch& launch, const std::filesystem::path& errors) {
  const std::string program = launch.wrap.substr(0, launch.wrap.find(' '));
  if (program.empty()) return "";
  for (const std::string& line : lines_of(errors))
    if (line.find("exec: " + program + ": ") != std::string::npos)
      return fmt::format(
          "--wrap: {} is no program where that rank runs: install it, or give its whole path; {}", program,
          line);
  return "";
}

static void explain_failure(Outcome& outcome, const Processes& processes, const Launch& launch, int ranks,
                            const std::filesystem::path& directory, bool out_of_memory) {
  const int command = processes.first_failure(), status = processes.end_of(command);
  const bool killed = WIFSIGNALED(status);
  const auto& errors = launch.commands[size_t(command)].errors;
  const std::string by_signal =
      launch.command_per_rank ? "" : rank_ended_by_signal(last_lines(errors, 100, " "));
  if (const std::string why = missing_wrapper(launch, errors); !why.empty()) {
    outcome.status = "CRASHED";
    outcome.reason = why;
    return;
  }
  // A rank that a signal ended had no time for words of its own, and those of others are about its absence.
  if (!killed && by_signal.empty() && explain_by_rank(outcome, ranks, directory)) return;
  std::string what =
      killed ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
             : fmt::format("exit code {}", WEXITSTATUS(status));
  bool sigkill = killed && WTERMSIG(status) == SIGKILL;
  if (launch.command_per_rank) {
    if (ranks > 1) what = fmt::format("rank {}: {}", command, what);
  } else if (!by_signal.empty()) {
    what = by_signal;
    sigkill = what.find("Killed") != std::string::npos;
  } else {
    what = launch.commands[size_t(command)].arguments[0] + ": " + what;
  }
  outcome.status = sigkill && out_of_memory ? "OUT_OF_MEMORY" : "CRASHED";
  outcome.reason =
      outcome.status == "OUT_OF_MEMORY" ? "the kernel ended it for want of memory; " + what : what;
  const std::string words =
      launch.command_per_rank ? last_lines(errors, 3, " | ") : first_lines(errors, 3, " | ");
  if (!words.empty()) outcome.reason += "; stderr: " + words;
}

static bool all_done(Progress& progress) {
  for (int rank = 0; rank < progress.ranks(); ++rank)
    if (progress.slot(rank).state != uint32_t(RankState::done)) return false;
  return true;
}

Outcome run_ranks(const Launch& launch, Progress& progress, const Limits& limits,
                  const std::filesystem::path& directory, const std::function<void()>& tick) {
  Outcome outcome;
  const Disturbance disturbance;
  const auto begin = Clock::now();
  Processes processes(launch, progress, directory);
  Heartbeat heartbeat(progress);
  auto last_tick = begin;
  Clock::time_point failed_at{};
  while (true) {
    processes.reap();
    outcome.wall_s = seconds_since(begin);
    if (!processes.running()) break;
    if (processes.first_failure() >= 0) {
      if (failed_at == Clock::time_point{}) failed_at = Clock::now();
      if (Clock::now() - failed_at > kGrace) break;
    }
    if (interrupted()) {
      outcome.status = "INTERRUPTED";
      outcome.interrupted = true;
      return outcome;
    }
    const double silence = heartbeat.silence_s();
    const double allowed = heartbeat.started()
                               ? std::max(limits.silence_s, kSlowBatches * heartbeat.longest_batch_s())
                               : limits.start_s;
    const bool seen = launch.command_per_rank || heartbeat.seen();
    if (seen && processes.first_failure() < 0 && silence > allowed) {
      outcome.status = "HUNG";
      outcome.reason = fmt::format(
          "no rank finished a batch for {:.1f} s (limit {:.1f}); the stack of each rank stands in `stacks`",
          silence, allowed);
      outcome.stacks = processes.stacks();
      return outcome;
    }
    if (limits.timeout_s > 0 && outcome.wall_s > limits.timeout_s) {
      outcome.status = "TIMEOUT";
      outcome.reason =
          fmt::format("not finished after {:g} s; --timeout sets the limit of a row", limits.timeout_s);
      return outcome;
    }
    if (Clock::now() - last_tick >= kTick) {
      last_tick = Clock::now();
      outcome.max_rss_bytes = std::max(outcome.max_rss_bytes, processes.memory());
      tick();
    }
    std::this_thread::sleep_for(kPoll);
  }
  // A debugger that finds no stack to show ends with an error of its own.
  const bool well_done = !launch.wrap.empty() && all_done(progress);
  if (processes.first_failure() >= 0 && !well_done)
    explain_failure(outcome, processes, launch, progress.ranks(), directory,
                    disturbance.out_of_memory_kills());
  return outcome;
}

}  // namespace harness
