// Facts about the machine and the build for records, and disturbances while a row ran.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace base {

// `machine` of a record; the same for the whole run.
nlohmann::json describe_machine();
// `build` of a record.
nlohmann::json describe_build();
std::string host_name();
// 20260131T030000-<host>, local time: the name of a results folder.
std::string time_and_host();
// Numbers of the cores that this process may use.
std::vector<int> available_cpus();
// Free memory in bytes, within a container's limit; INT64_MAX when neither /proc/meminfo nor a cgroup states
// it.
int64_t available_memory_bytes();
// The processor's instruction sets for 16-bit types, e.g. avx512_bf16.
std::vector<std::string> sixteen_bit_instructions();

// `environment` of a record. Constructed before a row, queried after it.
class Disturbance {
 public:
  Disturbance();
  nlohmann::json since() const;      // load_average at construction; steal_share, throttled_periods since
  bool out_of_memory_kills() const;  // whether the kernel's OOM killer ended a process since
 private:
  double load_average_ = 0;
  int64_t steal_ = 0, total_ = 0, throttled_ = 0, oom_kills_ = 0;
};

}  // namespace base
