// What a run happened on and with: hardware, operating system, build; and what disturbed a row.
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
// For a folder of results: 20260131T030000-<host>, in local time.
std::string time_and_host();
// Cores this process may use.
std::vector<int> available_cpus();
// Bytes of memory that are free, within a container's limit; a very large number where neither /proc/meminfo
// nor a cgroup says.
int64_t available_memory_bytes();
// 16-bit instruction sets of the processor that matter to training, e.g. avx512_bf16; empty: none.
std::vector<std::string> sixteen_bit_instructions();

// Taken before a row and asked after it: `environment` of a record.
class Disturbance {
 public:
  Disturbance();
  nlohmann::json since() const;      // load_average before, steal_share and throttled_periods since
  bool out_of_memory_kills() const;  // the kernel killed something for memory since
 private:
  double load_average_ = 0;
  int64_t steal_ = 0, total_ = 0, throttled_ = 0, oom_kills_ = 0;
};

}  // namespace base
