// Reads /proc and getrusage(), and times a chain of multiplications to learn the core's clock frequency.
#include "harness/contract/cpu_time.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

#include "harness/base/descendants.h"
#include "harness/base/process_limits.h"
#include "harness/contract/progress.h"

namespace harness {
namespace {

namespace fs = std::filesystem;

// Lines of /proc/stat: `cpu3 user nice system idle iowait irq softirq steal ...`, in ticks of the clock.
// Returns whether this process may use all cores of the machine.
bool add_times_of_cores(CpuTime& time) {
  const std::vector<int> cores = base::available_cpus();
  std::map<int, CpuTime> lines;
  const double tick_s = 1.0 / double(::sysconf(_SC_CLK_TCK));
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    int core = -1;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (line.compare(0, 3, "cpu") != 0) break;
    std::istringstream words(line.substr(3));
    if (line[3] == ' ' || !(words >> core)) continue;
    words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    const double busy = user + nice + system;
    CpuTime& of_core = lines[core];
    of_core.busy_s = busy * tick_s;
    of_core.stolen_s = steal * tick_s;
    of_core.total_s = (busy + idle + iowait + irq + softirq + steal) * tick_s;
  }
  const bool all = lines.size() == cores.size();
  // A container's /proc may number its cores anew (lxcfs): then all lines are ours. Else nothing is known.
  if (!all && !std::ranges::all_of(cores, [&](int core) { return lines.contains(core); })) return false;
  for (const auto& [core, of_core] : lines)
    if (all || std::ranges::count(cores, core)) {
      time.busy_s += of_core.busy_s;
      time.stolen_s += of_core.stolen_s;
      time.total_s += of_core.total_s;
    }
  return all;
}

double seconds(const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; }

// Files /proc/self/task/*/schedstat: `ns_on_a_core ns_queued slices`.
std::optional<double> queued_s_of_threads() {
  std::optional<double> sum;
  std::error_code error;
  for (fs::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream file(task->path() / "schedstat");
    double on_core_ns = 0, queued_ns = 0;
    if (file >> on_core_ns >> queued_ns) sum = sum.value_or(0) + queued_ns * 1e-9;
  }
  return sum;
}

// Fields 14 and 15 of /proc/PID/stat (proc(5)), and with `ended` 16 and 17, of its children that have ended.
double seconds_of_process(pid_t pid, bool ended) {
  std::string text;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), text);
  const size_t name_end = text.rfind(')');  // of the second field, which may hold spaces
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double sum = 0, ticks = 0;
  for (int field = 14; field < (ended ? 18 : 16) && fields >> ticks; ++field) sum += ticks;
  return sum / double(::sysconf(_SC_CLK_TCK));
}

// Of the threads of the kernel, which are children of process 2 where this process sees them (not in a
// container).
double seconds_of_kernel_threads() {
  if (std::string name; !std::getline(std::ifstream("/proc/2/comm"), name) || name != "kthreadd") return 0;
  double sum = 0;
  std::ifstream children("/proc/2/task/2/children");
  for (int child = 0; children >> child;) sum += seconds_of_process(child, false);
  return sum;
}

// The time of one step of a chain in which each multiplication needs the result of the one before. It takes a
// fixed number of cycles whatever the core's other hardware thread does, so it shows the core's clock. The
// shortest of several tries of about 0.04 ms: interruptions are longer.
double nanoseconds_of_a_chain_step() {
  using Clock = std::chrono::steady_clock;
  constexpr int kSteps = 30'000, kTries = 12;
  double shortest_ns = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < kTries; ++attempt) {
    uint64_t x = uint64_t(attempt);
    const Clock::time_point begin = Clock::now();
    for (int step = 0; step < kSteps; ++step) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      asm volatile("" : "+r"(x));  // so that the compiler computes every step
    }
    shortest_ns =
        std::min(shortest_ns, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return shortest_ns / kSteps;
}

}  // namespace

CpuTime cpu_time_until_now() {
  CpuTime time;
  const bool all_cores = add_times_of_cores(time);
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  time.own_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  for (const pid_t pid : base::descendants_of(::getpid())) time.own_s += seconds_of_process(pid, true);
  time.queued_s = queued_s_of_threads();
  if (all_cores) time.kernel_s = seconds_of_kernel_threads();  // which run on any of them
  time.machine = int64_t(this_machine());
  time.chain_step_ns = nanoseconds_of_a_chain_step();
  return time;
}

CpuTime CpuTime::operator-(const CpuTime& earlier) const {
  CpuTime passed{total_s - earlier.total_s,
                 busy_s - earlier.busy_s,
                 stolen_s - earlier.stolen_s,
                 own_s - earlier.own_s,
                 std::nullopt,
                 std::max(0.0, kernel_s - earlier.kernel_s),
                 machine,
                 std::nullopt};
  if (chain_step_ns > 0 && earlier.chain_step_ns > 0)
    passed.clock_change = earlier.chain_step_ns / chain_step_ns - 1;
  if (queued_s && earlier.queued_s) passed.queued_s = *queued_s - *earlier.queued_s;
  return passed;
}

}  // namespace harness
