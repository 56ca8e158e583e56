// What a record was measured on and with, and how two records differ in it.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// Hardware in a few words, as a name for a machine that any number of hosts can share: `AMD EPYC, 2 cores, 24
// GiB, cpu`. Two records with the same fingerprint may be compared as measurements of software.
std::string machine_fingerprint(const Record& record);

// Hardware and everything that it ran with: kernel, system, LibTorch, revision, compiler, flags. Records of
// one table should share it.
std::string environment_key(const Record& record);
// Its values in their order; empty where it was unknown.
std::vector<std::string> environment_parts(const std::string& key);
// Puts what a key says back into a record that has nothing but the key.
void restore_environment(Record& record, const std::string& key);

struct Difference {
  std::string what, a, b;
};

// Machine, system, libraries, build and data in which any record of A differs from any of B, each once.
std::vector<Difference> environment_differences(const Records& a, const Records& b);

// Why the figures of two records of one row can't be set against each other: other work, other data, another
// state of the cache. Empty when they can.
std::vector<std::string> incomparable(const Record& a, const Record& b);

// Fields of the row that differ otherwise: what the comparison is about, `precision o0 -> bf16`.
std::vector<std::string> changed_fields(const Record& a, const Record& b);

// What casts doubt on a record's figures: traced, wrapped, CPU time taken away.
std::vector<std::string> doubts(const Record& record);

}  // namespace harness
