// Follows parent links in /proc, and kills descendants that don't end in time.
#include "harness/base/descendants.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "harness/base/interrupt.h"
#include "harness/base/number.h"
#include "harness/base/say.h"

namespace base {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kDescendantsPoll = std::chrono::milliseconds(20);

struct Process {
  std::string name;
  char state = 0;  // as in proc_pid_stat(5); Z: ended, not yet reaped
  pid_t parent = 0;
  unsigned long long started = 0;  // clock ticks since boot
};

std::optional<Process> read_process(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const size_t open = text.find('('), close = text.rfind(')');  // the name may contain both
  if (close == std::string::npos || open >= close) return std::nullopt;
  Process process;
  process.name = text.substr(open + 1, close - open - 1);
  const char* format = " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
  if (std::sscanf(text.c_str() + close + 1, format, &process.state, &process.parent, &process.started) != 3)
    return std::nullopt;
  return process;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto pid = number_of<pid_t>(entry.path().filename().string());
    if (!pid) continue;
    if (auto process = read_process(*pid)) all.emplace(*pid, std::move(*process));
  }
  return all;
}

std::map<pid_t, unsigned long long>& strays() {
  static std::map<pid_t, unsigned long long> all;
  return all;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), error), end;
       !error && thread != end; thread.increment(error)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;) {
      found.push_back(child);
      const std::vector<pid_t> theirs = descendants_of(child);
      found.insert(found.end(), theirs.begin(), theirs.end());
    }
  }
  return found;
}

Descendants::Descendants() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t own = ::getpid();
  for (const auto& [pid, process] : all_processes())
    if (process.parent == own) before_.insert({pid, process.started});
}

std::vector<pid_t> Descendants::living() const {
  const std::map<pid_t, Process> all = all_processes();
  std::vector<pid_t> found, parents = {::getpid()};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    for (const auto& [pid, process] : all) {
      if (process.parent != parent || before_.count({pid, process.started})) continue;
      if (process.state == 'Z') {
        if (parent == ::getpid()) ::waitpid(pid, nullptr, WNOHANG);
        continue;  // an ended process has no children
      }
      found.push_back(pid);
      parents.push_back(pid);
    }
  }
  return found;
}

void Descendants::end(std::chrono::milliseconds grace, std::chrono::milliseconds limit) const {
  const auto begin = Clock::now();
  for (std::vector<pid_t> left = living(); !left.empty(); left = living()) {
    if (Clock::now() - begin >= grace)
      for (pid_t pid : left) ::kill(pid, SIGKILL);
    if (Clock::now() - begin >= limit) {
      for (pid_t pid : left)
        if (const auto process = read_process(pid)) strays()[pid] = process->started;
      return;
    }
    std::this_thread::sleep_for(kDescendantsPoll);
  }
}

bool is_running(pid_t pid) {
  const auto process = read_process(pid);
  return process && process->state != 'Z';
}

std::string live_strays() {
  std::string text;
  std::erase_if(strays(), [&](const auto& stray) {
    const auto process = read_process(stray.first);
    if (!process || process->started != stray.second || process->state == 'Z') return true;
    ::kill(stray.first, SIGKILL);
    text += fmt::format("{}pid {} ({})", text.empty() ? "" : ", ", stray.first, process->name);
    return false;
  });
  return text;
}

void wait_for_strays(std::chrono::seconds limit) {
  const auto begin = Clock::now();
  const int interrupts_before = interrupts();
  for (std::string text = live_strays(), said; !text.empty(); text = live_strays()) {
    if (text != said)
      base::say(
          "run_matrix: waiting for processes of earlier rows that can't be ended: {}; Ctrl-C stops waiting\n",
          text);
    said = text;
    if (interrupts() > interrupts_before || Clock::now() - begin > limit) return;
    std::this_thread::sleep_for(kDescendantsPoll);
  }
}

}  // namespace base
