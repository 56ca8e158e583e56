#include "harness/contract/machine.h"

#include <build_info.h>
#include <revision.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/base/machine.h"

namespace harness {

using base::value_of;

static int64_t number_of(const char* file, const std::string& key) {
  return std::strtoll(value_of(file, key).c_str(), nullptr, 10);
}

static int64_t memory_limit_bytes() {
  const int64_t physical = number_of("/proc/meminfo", "MemTotal") * 1024;
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max", no limit, fails to parse: bytes stays 0
  int64_t bytes = 0;
  return limit >> bytes && bytes > 0 ? std::min(bytes, physical) : physical;
}

RecordMachine describe_machine() {
  struct utsname kernel {};
  uname(&kernel);
  RecordMachine machine;
  machine.host = kernel.nodename;
  machine.cpu = value_of("/proc/cpuinfo", "model name");
  machine.cores = base::available_cpus().size();
  machine.memory_bytes = memory_limit_bytes();
  machine.sixteen_bit_instructions = base::sixteen_bit_instructions();
  machine.virtual_machine = value_of("/proc/cpuinfo", "flags").find("hypervisor") != std::string::npos;
  std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") >> machine.governor;
  machine.kernel = std::string(kernel.sysname) + " " + kernel.release;
  machine.os = value_of("/etc/os-release", "PRETTY_NAME");
  return machine;
}

RecordBuild describe_build() {
  return {BUILD_REVISION, BUILD_COMPILER, BUILD_TYPE, BUILD_FLAGS, BUILD_SANITIZE, BUILD_LIBTORCH};
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

void Disturbance::write_to(RecordEnvironment& environment) const {
  int64_t steal, total;
  read_cpu_times(steal, total);
  environment.load_average = load_average_;
  environment.steal_share = total > total_ ? double(steal - steal_) / double(total - total_) : 0.0;
  environment.throttled_periods = number_of("/sys/fs/cgroup/cpu.stat", "nr_throttled") - throttled_;
}

bool Disturbance::out_of_memory_kills() const { return number_of("/proc/vmstat", "oom_kill") > oom_kills_; }

}  // namespace harness
