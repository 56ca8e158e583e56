// Starts the command in its own session of processes, waits for it with a limit, and ends what it leaves.
#include "harness/own_job/job_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/base/descendants.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"
#include "harness/base/stopwatch.h"
#include "harness/contract/cpu_time.h"

namespace harness {

namespace {

constexpr int kNoOverlays = 125;  // exit code of bench/probe/throw_away
constexpr std::chrono::milliseconds kPoll(5);
constexpr size_t kLastLines = 5;
constexpr double kLinger_s = 10;  // for processes whose ranks have all reached their last step

double seconds_of_children() {
  struct rusage usage {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// The job may print secrets: nobody else may read what it prints.
void make_private(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) base::throw_write_error(file, errno);
  ::close(fd);
}

// Words before a command that then runs in a control group.
std::vector<std::string> entering(const std::string& group) {
  return {"sh", "-c", "echo 0 >\"$0\" && exec \"$@\"", group + "/cgroup.procs"};
}

base::Command command_of(const Installation& installation, const JobStart& start, int64_t overlay_bytes) {
  base::Command command;
  if (!start.control_group.empty()) command.arguments = entering(start.control_group);
  if (overlay_bytes > 0)
    command.arguments.insert(command.arguments.end(),
                             {(installation.project / "bench/probe/throw_away").string(),
                              start.folder.string(), std::to_string(overlay_bytes)});
  command.arguments.insert(command.arguments.end(), start.command.begin(), start.command.end());
  command.cpus = start.cpus;
  command.output = start.folder / "output.txt";
  command.errors_to_output = true;
  if (start.plan.is_null()) return command;
  const char* path = std::getenv("PYTHONPATH");
  command.environment["PYTHONPATH"] =
      (installation.project / "bench" / "probe").string() + (path && *path ? ":" + std::string(path) : "");
  command.environment["RUN_MATRIX_PROBE"] = start.folder;
  if (start.plan.value("list_files", false) && !installation.list_opens.empty())
    base::preload(command, installation.list_opens);
  return command;
}

// A run that ended before it had a record leaves its folder to the next one, whose ranks have other names.
void remove_reports(const fs::path& folder) {
  for (const fs::path& entry : base::entries_of(folder))
    for (const char* report : {"rank-", "worker-", "files-", "ended-", "counts-", "caught.txt"})
      if (entry.filename().string().starts_with(report)) fs::remove(entry);
}

// Whether every rank has left the mark that it ends: what still runs then only lingers.
bool all_ranks_ended(const fs::path& folder) {
  int reports = 0, ends = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    reports += name.starts_with("rank-");
    ends += name.starts_with("ended-");
  }
  return reports > 0 && reports == ends;
}

// The set-up installs LibTorch into .venv without the libraries that only Python's torch needs.
std::string advice_on_import(const fs::path& venv, const fs::path& program, const std::string& said) {
  std::error_code error;
  const bool is_venv = said.find((venv / "lib").string()) != std::string::npos ||
                       fs::equivalent(program.parent_path(), venv / "bin", error);
  if (!is_venv || said.find("ImportError: lib") == std::string::npos) return "";
  return venv.string() +
         " holds LibTorch for this suite, without what Python's torch needs: use a Python with a "
         "complete torch (pip install torch in an environment of your own)";
}

}  // namespace

std::string why_quota_stays() {
  const base::ProcessLimits limits = base::process_limits();
  if (!limits.quota_cores || *limits.quota_cores >= double(base::available_cpus().size()))
    return "no quota of a control group limits its cores";
  if (limits.without_quota.empty())
    return "the quota is of the outermost control group here: give this container more cores";
  base::Command attempt{entering(limits.without_quota), {}, {}, {}, "/dev/null"};
  attempt.arguments.push_back("true");
  return base::run_to_end(attempt).exit_code == 0 ? "" : "it can't be taken out of its control group here";
}

JobEnd run_job(const Installation& installation, const JobStart& start, const std::function<bool()>& enough) {
  fs::create_directories(start.folder);
  fs::permissions(start.folder, fs::perms::owner_all);
  remove_reports(start.folder);
  if (!start.plan.is_null()) base::write_whole_file(start.folder / "plan.json", start.plan.dump(), false);
  const fs::path output = start.folder / "output.txt";
  make_private(output);
  JobEnd end;
  if (!start.may_write) end.overlay_bytes = base::process_limits().free_memory_bytes / 4;
  base::Command command = command_of(installation, start, end.overlay_bytes);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  command.input_fd = nothing;

  const base::Descendants descendants;
  const CpuTime before = cpu_time_until_now();
  const double children_before_s = seconds_of_children();
  const base::Stopwatch watch;
  const pid_t pid = base::start(command);
  ::close(nothing);
  int status = 0;
  double limit_s = start.limit_s, asked_at_s = 0;
  bool had_enough = false;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(kPoll);
    end.interrupted = base::interrupted();
    if (!had_enough && enough()) {
      had_enough = true;
      limit_s = watch.s();
    }
    if (watch.s() - asked_at_s >= 1) {
      asked_at_s = watch.s();
      if (all_ranks_ended(start.folder)) limit_s = std::min(limit_s, watch.s() + kLinger_s);
    }
    if (!end.interrupted && watch.s() < limit_s) continue;
    end.in_time = end.interrupted || had_enough || all_ranks_ended(start.folder);
    // The process that made the overlays goes on until it has listed what they caught.
    for (const pid_t process : descendants.living())
      if (process != pid || start.may_write) ::kill(process, SIGKILL);
    limit_s = watch.s() + 1;
  }
  end.wall_s = watch.s();
  descendants.end(std::chrono::milliseconds(0));
  const CpuTime used = cpu_time_until_now() - before;
  const double children_s = seconds_of_children() - children_before_s;
  if (used.total_s > 0) {
    end.outside_share = std::max(0.0, used.busy_s - children_s - used.own_s - used.kernel_s) / used.total_s;
    end.stolen_share = used.stolen_s / used.total_s;
  }
  end.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end.last_lines = base::last_lines(output, kLastLines, "\n");
  end.advice = advice_on_import(installation.project / ".venv", start.command[0], end.last_lines);
  end.caught = base::log_lines(start.folder / "caught.txt");
  if (end.exit_code == kNoOverlays && !start.may_write && !fs::exists(start.folder / "caught.txt"))
    throw std::runtime_error(fmt::format(
        "what the job writes can't be kept from the real file systems here: {}; run it as root, or with "
        "--may-write if it may write its files (checkpoints, logs) for real",
        end.last_lines));
  return end;
}

}  // namespace harness
