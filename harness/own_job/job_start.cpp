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

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream input(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
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
  end.caught = lines_of(start.folder / "caught.txt");
  if (end.exit_code == kNoOverlays && !start.may_write && !fs::exists(start.folder / "caught.txt"))
    throw std::runtime_error(fmt::format(
        "what the job writes can't be kept from the real file systems here: {}; run it as root, or with "
        "--may-write if it may write its files (checkpoints, logs) for real",
        end.last_lines));
  return end;
}

int64_t StepLines::poll() {
  std::ifstream input(output_, std::ios::binary);
  input.seekg(read_);
  const std::string text((std::istreambuf_iterator<char>(input)), {});
  read_ += std::streamoff(text.size());
  rest_ += text;
  const Clock::time_point now = Clock::now();
  size_t begin = 0;
  for (size_t end; (end = rest_.find_first_of("\n\r", begin)) != std::string::npos; begin = end + 1)
    if (std::regex_search(rest_.substr(begin, end - begin), pattern_)) ends_.push_back(now);
  rest_.erase(0, begin);
  constexpr size_t kLongestLine = 1 << 16;
  if (rest_.size() > kLongestLine) rest_.clear();
  return int64_t(ends_.size());
}

ProbeReport StepLines::report(int64_t warmup, int64_t steps) const {
  constexpr size_t kLargestBurst = 4;  // lines with one time, on average
  ProbeReport report;
  ProbeRank rank;
  rank.iterations = int64_t(ends_.size());
  rank.end = "done";
  ProbeSegment segment;
  segment.change = "unchanged";
  segment.settled = warmup;
  std::set<Clock::time_point> times;
  for (size_t i = size_t(std::max<int64_t>(1, warmup)); i < ends_.size(); ++i) {
    times.insert(ends_[i]);
    ProbeStep step;
    step.wall_ms = step.other_ms = std::chrono::duration<double, std::milli>(ends_[i] - ends_[i - 1]).count();
    step.items = 1;
    segment.steps.push_back(step);
  }
  segment.items = segment.updates = int64_t(segment.steps.size());
  if (ends_.empty())
    report.why_not = "no line that it printed matches --step-line";
  else if (segment.items < std::max<int64_t>(1, steps / 2))
    report.why_not =
        fmt::format("it printed {} lines of steps, of which {} were to be timed after the first {}",
                    ends_.size(), steps, warmup);
  else if (times.size() < 2 || times.size() * kLargestBurst < segment.steps.size())
    report.why_not = fmt::format(
        "{} lines of steps came at {} times, so that a step has no time of its own: let the program flush after "
        "each line, or print one of every N",
        segment.steps.size(), times.size());
  else
    rank.segments.push_back(segment);
  if (!report.why_not.empty()) rank.end = "exit";
  report.ranks.push_back(rank);
  return report;
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 200'000;

void read_through(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  while (!base::interrupted() &&
         (input.read(buffer.data(), std::streamsize(buffer.size())) || input.gcount() > 0)) {
  }
}

void drop_from_cache(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

int64_t largest_in_memory() { return base::process_limits().free_memory_bytes / 2; }

int64_t bytes_of(const std::set<std::string>& files) {
  int64_t bytes = 0;
  std::error_code error;
  for (const std::string& file : files)
    if (const auto size = fs::file_size(file, error); !error) bytes += int64_t(size);
  return bytes;
}

// Empty when they are too many or too large.
std::set<std::string> files_beside(const std::set<std::string>& opened) {
  std::set<fs::path> folders;
  for (const std::string& file : opened) folders.insert(fs::path(file).parent_path());
  std::set<std::string> found;
  int64_t bytes = 0;
  const int64_t most = largest_in_memory();
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      std::error_code unreadable;
      if (!entry->is_regular_file(unreadable)) continue;
      bytes += int64_t(entry->file_size(unreadable));
      if (bytes > most || found.size() >= kMostFiles) return {};
      found.insert(entry->path());
    }
  }
  return found;
}

}  // namespace

void JobFiles::opened(const std::vector<std::string>& files) {
  const size_t before = opened_.size();
  for (const std::string& file : files) {
    std::error_code error;
    if (fs::is_regular_file(file, error)) opened_.insert(file);
  }
  if (opened_.size() == before) return;
  beside_ = files_beside(opened_);
  fit_ = bytes_of(opened_) <= largest_in_memory();
}

void JobFiles::prepare(JobChange::Files as) const {
  if (as == JobChange::Files::as_they_are) return;
  for (const std::set<std::string>* files : {&opened_, &beside_})
    for (const std::string& file : *files) {
      if (base::interrupted()) return;
      as == JobChange::Files::dropped ? drop_from_cache(file) : read_through(file);
    }
}

}  // namespace harness
