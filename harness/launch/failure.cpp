// Finds out why a row's processes failed or hang, from the rank's report, its launcher's output, NCCL's
// flight recorder or the kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <vector>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/launch/launcher.h"
#include "harness/launch/row_processes.h"

namespace harness {

static std::string describe(const nlohmann::json& collective) {
  return fmt::format("{} {} of {}", collective.at("profiling_name").get<std::string>(),
                     collective.at("collective_seq_id").get<int64_t>(), collective.at("input_sizes").dump());
}

// Version 2 of the dump (c10d/FlightRecorder.hpp) lists its entries in the order of their enqueuing. A rank
// without any has no `entries`.
std::string last_collectives(const std::filesystem::path& dump) try {
  if (!std::filesystem::exists(dump)) return "";
  const auto recorded = base::parse_json_file(dump);
  if (recorded.is_object() && !recorded.contains("entries")) return "\nno collective was recorded";
  std::map<int64_t, std::pair<nlohmann::json, nlohmann::json>> groups;  // last enqueued, last completed
  for (const auto& one : recorded.at("entries")) {
    auto& [enqueued, completed] = groups[one.at("pg_id").get<int64_t>()];
    enqueued = one;
    if (one.at("state") == "completed") completed = one;
  }
  std::string text;
  for (const auto& [group, last] : groups)
    text += fmt::format("\ngroup {}: last enqueued {}, {}; last completed {}", group, describe(last.first),
                        last.first.at("state").get<std::string>(),
                        last.second.is_null() ? "none" : describe(last.second));
  return text;
} catch (const nlohmann::json::exception& error) {
  return fmt::format("\n{} is not a dump of the flight recorder: {}", dump.string(), error.what());
}

// Returns whether `words` are a WhyEnded; one that was being written is none.
static bool take_why_ended(Outcome& outcome, int rank, int ranks, const nlohmann::json& words) {
  try {
    const WhyEnded why = decode<WhyEnded>(words);
    outcome.status = why.status;
    outcome.reason = (ranks > 1 ? fmt::format("rank {}: ", rank) : "") + why.reason;
    return true;
  } catch (const Violation&) {
    return false;
  }
}

static bool take_why_ended(Outcome& outcome, const Progress& progress) {
  for (int rank = 0; rank < progress.ranks(); ++rank)
    if (take_why_ended(outcome, rank, progress.ranks(), base::parse_json(why_ended(progress.slot(rank)))))
      return true;
  return false;
}

// Uses the error of the rank that reported first; other ranks may have failed as a consequence.
static bool explain_by_rank(Outcome& outcome, Progress& progress, const std::filesystem::path& directory) {
  std::filesystem::file_time_type first;
  bool found = false;
  for (int rank = 0; rank < progress.ranks(); ++rank) {
    const auto file = directory / fmt::format("rank-{}.error.json", rank);
    std::error_code missing;
    const auto written = std::filesystem::last_write_time(file, missing);
    if (missing || (found && written >= first) ||
        !take_why_ended(outcome, rank, progress.ranks(), base::parse_json_file(file)))
      continue;
    first = written;
    found = true;
  }
  return found || take_why_ended(outcome, progress);  // which needs no disk
}

struct BySignal {
  std::string rank, signal;  // empty: none
};

// Parses mpirun's and srun's message about a rank that a signal ended.
static BySignal rank_ended_by_signal(const std::string& text) {
  static const std::regex mpirun(R"(process rank (\d+) .*exited on signal (\d+ \([^)]*\)))"),
      srun(R"(task (\d+): (Killed|Segmentation fault|Aborted|Bus error))");
  std::smatch found;
  if (std::regex_search(text, found, mpirun) || std::regex_search(text, found, srun))
    return {found[1], found[2]};
  return {};
}

// What starts all ranks; words before mpirun bring it to its node.
static std::string launcher_program(const Launch& launch) {
  const std::vector<std::string>& words = launch.commands[0].arguments;
  return std::ranges::find(words, "mpirun") != words.end() ? "mpirun"
                                                           : fs::path(words[0]).filename().string();
}

// Finds the shell's message about a missing --wrap program; mpirun and srun don't pass on its exit code.
static std::string missing_wrapper(const Launch& launch, const std::filesystem::path& errors) {
  const std::string program = launch.wrap.substr(0, launch.wrap.find(' '));
  if (program.empty()) return "";
  for (const std::string& line : base::log_lines(errors))
    if (line.find("exec: " + program + ": ") != std::string::npos)
      return fmt::format(
          "--wrap: program {} was not found on the rank's node: install it there, or give its full path; {}",
          program, line);
  return "";
}

// PMIx, which connects mpirun and its ranks, needs shared memory.
static std::string missing_memory(const std::filesystem::path& errors) {
  for (const std::string& line : base::log_lines(errors))
    if (line.find("OUT-OF-RESOURCE") != std::string::npos)
      return "/dev/shm is too small for OpenMPI's shared memory: enlarge it (mount -o remount,size=1G "
             "/dev/shm; in a container --shm-size=1g); ";
  return "";
}

void explain_failure(Outcome& outcome, const RowProcesses& processes, const Launch& launch,
                     Progress& progress, const std::filesystem::path& directory,
                     MemoryRanOut memory_ran_out) {
  const int command = processes.first_failure(), status = processes.end_of(command);
  const bool killed = WIFSIGNALED(status);
  const auto& errors = launch.commands[size_t(command)].errors;
  const BySignal by_signal =
      launch.command_per_rank ? BySignal{} : rank_ended_by_signal(base::last_lines(errors, 100, " "));
  if (const std::string why = missing_wrapper(launch, errors); !why.empty()) {
    outcome.status = "CRASHED";
    outcome.reason = why;
    return;
  }
  // A rank ended by a signal can't report an error, and the errors of the others are consequences.
  if (!killed && by_signal.rank.empty() && explain_by_rank(outcome, progress, directory)) return;
  std::string what =
      killed ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
             : fmt::format("exit code {}", WEXITSTATUS(status));
  bool sigkill = killed && WTERMSIG(status) == SIGKILL;
  if (launch.command_per_rank) {
    if (progress.ranks() > 1) what = fmt::format("rank {}: {}", command, what);
  } else if (!by_signal.rank.empty()) {
    what = fmt::format("rank {}: ended by signal {}", by_signal.rank, by_signal.signal);
    sigkill = by_signal.signal.find("Killed") != std::string::npos;
  } else {
    what = launcher_program(launch) + ": " + what;
  }
  const bool certain = memory_ran_out == MemoryRanOut::in_this_group;
  const bool possible = memory_ran_out == MemoryRanOut::somewhere ||
                        (memory_ran_out == MemoryRanOut::in_another_group && !launch.command_per_rank);
  const bool out_of_memory = sigkill && (certain || possible);
  outcome.status = out_of_memory ? "OUT_OF_MEMORY" : "CRASHED";
  if (out_of_memory && certain) outcome.reason = "the kernel ended it because memory ran out; ";
  if (out_of_memory && !certain)
    outcome.reason =
        "the kernel ended it because memory ran out, or it ended another process of this machine and someone "
        "else ended this one; ";
  outcome.reason += what;
  // What the rank itself wrote last, with the stack on which a signal ended it, tells more than its launcher.
  // Of the ranks that torchrun started, this process started rank 0.
  const auto of_rank =
      directory / fmt::format("rank-{}.stderr", launch.launcher == "env" ? "0" : by_signal.rank);
  std::string words = base::last_lines(launch.command_per_rank ? errors : of_rank, 5, " | ");
  if (words.empty() && !launch.command_per_rank) words = base::first_lines(errors, 3, " | ");
  if (!words.empty()) outcome.reason += "; stderr: " + words;
  if (!launch.command_per_rank) outcome.reason = missing_memory(errors) + outcome.reason;
}

void explain_hang(Outcome& outcome, const Progress& progress, double silence_s, double allowed_s) {
  const bool told = take_why_ended(outcome, progress);
  outcome.status = "HUNG";
  outcome.reason = fmt::format(
      "no rank finished a batch for {:.1f} s (limit {:.1f}); {}{}the record's `stacks` has the stack of each "
      "rank",
      silence_s, allowed_s, outcome.reason, told ? "; " : "");
}

bool explain_deadlock(Outcome& outcome, const Launch& launch) {
  if (launch.command_per_rank) return false;
  const auto& errors = launch.commands[0].errors;
  const std::string why = missing_memory(errors);
  if (why.empty()) return false;
  outcome.status = "CRASHED";
  outcome.reason = fmt::format("{}no rank could connect to {} after that; stderr: {}", why,
                               launcher_program(launch), base::first_lines(errors, 3, " | "));
  return true;
}

void explain_missing_ranks(Outcome& outcome, const Launch& launch, Progress& progress,
                           const std::filesystem::path& directory) {
  const auto& errors = launch.commands[0].errors;
  outcome.status = "CRASHED";
  const bool known = explain_by_rank(outcome, progress, directory);
  const std::string words = base::first_lines(errors, 3, " | ");
  outcome.reason =
      fmt::format("{}{}{}all ranks ended, and {} did not{}{}", missing_memory(errors), outcome.reason,
                  known ? "; " : "", launcher_program(launch), words.empty() ? "" : "; stderr: ", words);
}

}  // namespace harness
