// Machine and environment in which a record was measured, and differences between records.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// The hardware in a few words, equal for equal hosts: `AMD EPYC, 2 cores, 24 GiB, cpu`. Differences between
// two records with the same fingerprint come from software.
std::string machine_fingerprint(const Record& record);

// Hardware and software: machine, kernel, system, driver, LibTorch, build, data set. Records of one table
// should have the same key.
std::string environment_key(const Record& record);
// The values in the key, in order; an unknown value is empty.
std::vector<std::string> environment_parts(const std::string& key);
// Restores the parts of a key in a record that has only the key.
void restore_environment(Record& record, const std::string& key);

struct Difference {
  std::string what, a, b;
};

// The facts (machine, system, libraries, build, data) whose sets of values differ between A and B.
std::vector<Difference> environment_differences(const Records& a, const Records& b);

// Why the figures of two records of one row can't be compared: different work, data or cache state. Empty
// when they can.
std::vector<std::string> incomparable(const Record& a, const Record& b);

// Differing fields of Role::identity, which the comparison is about: `precision o0 -> bf16`.
std::vector<std::string> changed_fields(const Record& a, const Record& b);

// Names of the settings in which two rows differ, without titles and the like, and without how they were
// measured.
std::vector<std::string> different_settings(const Row& a, const Row& b);

// False for a traced row on GPUs: CUPTI, the profiler's library, stays attached to its ranks after the traced
// batches, and all later calls of CUDA cost more (pytorch/pytorch issue 144455: 10 to 20 % of a step). Kineto
// detaches it with TEARDOWN_CUPTI=1, but from a thread of its own, which may meet the next recording and
// CUDA calls of other threads such as NCCL's watchdog (pytorch/kineto pull requests 686 and 1554, the latter
// open), and with CUDA graphs it crashed before CUDA 12.6 (pytorch/pytorch pull requests 112507 and 150957).
bool has_comparable_rate(const Record& record);
inline constexpr const char* kTracedRate = "traced; its rate is not comparable";

// Reasons to doubt a record's figures: traced, wrapped, CPU time limited.
std::vector<std::string> doubts(const Record& record);

}  // namespace harness
