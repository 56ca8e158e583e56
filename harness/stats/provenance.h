// Machine and environment in which a record was measured, differences between records, and the axis of the
// matrix on which a row differs from its base.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/contract/row.h"

namespace harness {

// Said wherever figures of scale smoke stand: they mean nothing.
inline constexpr const char* kSmokeOnlyTests = "scale smoke only tests the program";

// The hardware in a few words, equal for equal hosts: `AMD EPYC, 2 cores, 24 GiB, cpu`. Differences between
// two records with the same fingerprint come from software.
std::string machine_fingerprint(const Record& record);

// Of one run, the record that tells its machine and environment: the first that is OK, because the others may
// lack the device's name; without one, the first of all.
const Record& record_of_machine(const Records& records);

// Hardware and software: machine, kernel, system, driver, LibTorch, build, data set. Records of one table
// should have the same key.
std::string environment_key(const Record& record);
// Whether the keys are equal; PyTorch in Python (field `engine`) may not know the driver.
bool same_environment(const Record& a, const Record& b);
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

// False for a row traced on GPUs: CUPTI stays attached to its ranks, and every later call of CUDA costs more
// (pytorch issue 144455). TEARDOWN_CUPTI=1 would detach it, but asynchronously, racing with other threads'
// calls and with a second recording (kineto pull requests 686 and 1554, the latter open), and crashed with
// CUDA graphs before CUDA 12.6 (pytorch pull request 150957).
bool has_comparable_rate(const Record& record);
inline constexpr const char* kTracedRate = "traced; its rate is not comparable";

// Reasons to doubt a record's figures: traced, wrapped, CPU time limited.
std::vector<std::string> doubts(const Record& record);

// The first axis on which a row differs from its base; without a base, or without a difference, the axis on
// which it differs from the simplest row.
std::string group_of(const Row& row, const Row* base);

}  // namespace harness
