#include "harness/launcher.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/interrupt.h"
#include "harness/machine.h"

namespace harness {

using Clock = std::chrono::steady_clock;
constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kTick = std::chrono::milliseconds(200);
constexpr double kSlowBatches = 5;  // silence of so many of the longest batches is no slowness any more
constexpr auto kGrace = std::chrono::seconds(2);  // for the other ranks, once one has failed

static double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Text, because stderr of a crashing program may hold anything.
static std::string last_lines(const std::filesystem::path& file, size_t lines, const char* separator) {
  std::ifstream stream(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) {
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = ' ';
    if (line.find_first_not_of(' ') != std::string::npos) all.push_back(line);
  }
  std::string text;
  for (size_t i = all.size() > lines ? all.size() - lines : 0; i < all.size(); ++i)
    text += (text.empty() ? "" : separator) + all[i];
  return text;
}

static int64_t anonymous_bytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0) return std::strtoll(line.c_str() + 8, nullptr, 10) * 1024;
  return 0;
}

namespace {

class Ranks {
 public:
  Ranks(const std::vector<Command>& commands)
      : commands_(commands), pids_(commands.size(), 0), ends_(commands.size()) {
    try {
      for (size_t i = 0; i < commands.size(); ++i) pids_[i] = start(commands[i]);
    } catch (...) {
      kill_all();
      throw;
    }
  }
  ~Ranks() { kill_all(); }

  // Notes which ranks have ended.
  void reap() {
    for (size_t i = 0; i < pids_.size(); ++i) {
      int status = 0;
      if (pids_[i] == 0 || ::waitpid(pids_[i], &status, WNOHANG) != pids_[i]) continue;
      pids_[i] = 0;
      ends_[i] = status;
      if (status != 0 && first_failure_ < 0) first_failure_ = int(i);
    }
  }
  bool running() const {
    for (pid_t pid : pids_)
      if (pid != 0) return true;
    return false;
  }
  int first_failure() const { return first_failure_; }  // rank, -1: none so far
  int end_of(int rank) const { return ends_[size_t(rank)]; }
  int64_t memory() const {
    int64_t bytes = 0;
    for (pid_t pid : pids_)
      if (pid != 0) bytes += anonymous_bytes(pid);
    return bytes;
  }
  std::vector<std::string> stacks() const {
    for (pid_t pid : pids_)
      if (pid != 0) ::kill(pid, SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    std::vector<std::string> texts;
    for (const Command& command : commands_) texts.push_back(last_lines(command.errors, 40, "\n"));
    return texts;
  }
  void kill_all() {
    for (pid_t& pid : pids_) {
      if (pid == 0) continue;
      ::kill(-pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      pid = 0;
    }
  }

 private:
  const std::vector<Command>& commands_;
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
    }
    return seconds_since(since_);
  }
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
};

}  // namespace

// Why the first rank that failed did so: its own words, or the signal and the end of its stderr.
static void explain_failure(Outcome& outcome, const Ranks& ranks, const std::vector<Command>& commands,
                            const std::filesystem::path& directory, bool out_of_memory) {
  const int rank = ranks.first_failure(), status = ranks.end_of(rank);
  const std::string who = commands.size() > 1 ? fmt::format("rank {}: ", rank) : "";
  std::ifstream own_words(directory / fmt::format("rank-{}.error.json", rank));
  if (const auto error = nlohmann::json::parse(own_words, nullptr, false); error.is_object()) {
    outcome.status = error.value("status", "CRASHED");
    outcome.reason = who + error.value("reason", "");
    return;
  }
  const bool killed = WIFSIGNALED(status);
  outcome.status = killed && WTERMSIG(status) == SIGKILL && out_of_memory ? "OUT_OF_MEMORY" : "CRASHED";
  const std::string tail = last_lines(commands[size_t(rank)].errors, 3, " | ");
  outcome.reason =
      who + (outcome.status == "OUT_OF_MEMORY" ? "the kernel ended it for want of memory"
             : killed ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                      : fmt::format("exit code {}", WEXITSTATUS(status)));
  if (!tail.empty()) outcome.reason += "; stderr: " + tail;
}

Outcome run_ranks(const std::vector<Command>& commands, Progress& progress, const Limits& limits,
                  const std::filesystem::path& directory, const std::function<void()>& tick) {
  Outcome outcome;
  const Disturbance disturbance;
  const auto begin = Clock::now();
  Ranks ranks(commands);
  Heartbeat heartbeat(progress);
  auto last_tick = begin;
  Clock::time_point failed_at{};
  while (true) {
    ranks.reap();
    outcome.wall_s = seconds_since(begin);
    if (!ranks.running()) break;
    if (ranks.first_failure() >= 0) {
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
    if (ranks.first_failure() < 0 && silence > allowed) {
      outcome.status = "HUNG";
      outcome.reason = fmt::format(
          "no rank finished a batch for {:.1f} s (limit {:.1f}); the stack of each rank stands in `stacks`",
          silence, allowed);
      outcome.stacks = ranks.stacks();
      return outcome;
    }
    if (limits.timeout_s > 0 && outcome.wall_s > limits.timeout_s) {
      outcome.status = "TIMEOUT";
      outcome.reason =
          fmt::format("not finished after {:.0f} s; --timeout sets the limit of a row", limits.timeout_s);
      return outcome;
    }
    if (Clock::now() - last_tick >= kTick) {
      last_tick = Clock::now();
      outcome.max_rss_bytes = std::max(outcome.max_rss_bytes, ranks.memory());
      tick();
    }
    std::this_thread::sleep_for(kPoll);
  }
  if (ranks.first_failure() >= 0)
    explain_failure(outcome, ranks, commands, directory, disturbance.out_of_memory_kills());
  return outcome;
}

}  // namespace harness
