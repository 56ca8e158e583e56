// Reads /proc, /etc and the build's macros; differences between two readings show disturbances.
#include "harness/contract/machine.h"

#include <build_info.h>
#include <revision.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>

#include "harness/base/machine.h"
#include "harness/base/process_limits.h"

namespace harness {

using base::value_of;

static int64_t number_of(const char* file, const std::string& key) {
  return std::strtoll(value_of(file, key).c_str(), nullptr, 10);
}

RecordMachine describe_machine() {
  struct utsname kernel {};
  uname(&kernel);
  RecordMachine machine;
  machine.host = base::host_name();
  machine.cpu = value_of("/proc/cpuinfo", "model name");
  const base::ProcessLimits limits = base::process_limits();
  machine.cores = limits.cores;
  machine.quota_cores = limits.quota_cores;
  machine.cores_limited_by = limits.cores_limited_by;
  machine.memory_bytes = limits.memory_bytes;
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

Disturbance::Disturbance() {
  if (getloadavg(&load_average_, 1) != 1) load_average_ = 0;
  oom_kills_ = number_of("/proc/vmstat", "oom_kill");
}

void Disturbance::write_to(RecordEnvironment& environment) const {
  const CpuTime passed = cpu_time_until_now() - begin_;
  environment.load_average = load_average_;
  environment.steal_share = passed.total_s > 0 ? passed.stolen_s / passed.total_s : 0.0;
  environment.throttled_periods = base::process_limits().throttled_periods - limits_.throttled_periods;
}

MemoryRanOut Disturbance::memory_ran_out() const {
  const auto in_group = base::process_limits().oom_kills;
  if (in_group > limits_.oom_kills) return MemoryRanOut::in_this_group;
  if (number_of("/proc/vmstat", "oom_kill") <= oom_kills_) return MemoryRanOut::no;
  return in_group ? MemoryRanOut::in_another_group : MemoryRanOut::somewhere;
}

}  // namespace harness
