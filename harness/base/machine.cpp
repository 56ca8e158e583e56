#include "harness/base/machine.h"

#include <build_info.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <revision.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace base {

using nlohmann::json;

// The value in the first line of `file` that starts with `key`, without colon, quotes and blanks; empty when
// no line does.
static std::string value_of(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t begin = line.find_first_not_of(" \t:=\"", key.size());
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \"") + 1 - begin);
  }
  return "";
}

static int64_t number_of(const char* file, const std::string& key) {
  return std::strtoll(value_of(file, key).c_str(), nullptr, 10);
}

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

std::string time_and_host() {
  return fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::localtime(std::time(nullptr)), host_name());
}

std::vector<int> available_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

std::vector<std::string> sixteen_bit_instructions() {
  std::istringstream flags(value_of("/proc/cpuinfo", "flags"));
  const std::set<std::string> wanted = {"avx512_bf16", "amx_bf16", "avx512_fp16", "avx_ne_convert"};
  std::vector<std::string> found;
  for (std::string flag; flags >> flag;)
    if (wanted.count(flag)) found.push_back(flag);
  return found;
}

static int64_t memory_limit_bytes() {
  const int64_t physical = number_of("/proc/meminfo", "MemTotal") * 1024;
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max", no limit, fails to parse: bytes stays 0
  int64_t bytes = 0;
  return limit >> bytes && bytes > 0 ? std::min(bytes, physical) : physical;
}

int64_t available_memory_bytes() {
  int64_t available = INT64_MAX;
  if (const std::string text = value_of("/proc/meminfo", "MemAvailable"); !text.empty())
    available = std::strtoll(text.c_str(), nullptr, 10) * 1024;
  int64_t limit = 0, used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used)
    available = std::min(available, limit - used);
  return available;
}

json describe_machine() {
  struct utsname kernel {};
  uname(&kernel);
  const bool virtual_machine = value_of("/proc/cpuinfo", "flags").find("hypervisor") != std::string::npos;
  std::string governor;
  std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") >> governor;
  return {{"host", kernel.nodename},
          {"cpu", value_of("/proc/cpuinfo", "model name")},
          {"cores", available_cpus().size()},
          {"memory_bytes", memory_limit_bytes()},
          {"sixteen_bit_instructions", sixteen_bit_instructions()},
          {"virtual_machine", virtual_machine},
          {"governor", governor},
          {"kernel", std::string(kernel.sysname) + " " + kernel.release},
          {"os", value_of("/etc/os-release", "PRETTY_NAME")}};
}

json describe_build() {
  return {{"revision", BUILD_REVISION}, {"compiler", BUILD_COMPILER}, {"type", BUILD_TYPE},
          {"flags", BUILD_FLAGS},       {"sanitize", BUILD_SANITIZE}, {"libtorch", BUILD_LIBTORCH}};
}

static void read_cpu_times(int64_t& steal, int64_t& total) {
  std::istringstream times(value_of("/proc/stat", "cpu "));
  total = steal = 0;
  int64_t value;
  for (int column = 0; times >> value && column < 8; ++column) {
    total += value;
    if (column == 7) steal = value;
  }
}

Disturbance::Disturbance() {
  if (getloadavg(&load_average_, 1) != 1) load_average_ = 0;
  read_cpu_times(steal_, total_);
  throttled_ = number_of("/sys/fs/cgroup/cpu.stat", "nr_throttled");
  oom_kills_ = number_of("/proc/vmstat", "oom_kill");
}

json Disturbance::since() const {
  int64_t steal, total;
  read_cpu_times(steal, total);
  return {{"load_average", load_average_},
          {"steal_share", total > total_ ? double(steal - steal_) / double(total - total_) : 0.0},
          {"throttled_periods", number_of("/sys/fs/cgroup/cpu.stat", "nr_throttled") - throttled_}};
}

bool Disturbance::out_of_memory_kills() const { return number_of("/proc/vmstat", "oom_kill") > oom_kills_; }

}  // namespace base
