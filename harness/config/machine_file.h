// A described machine, for planning a run on it.
#pragma once
#include <filesystem>

#include "harness/contract/record_machine.h"

namespace harness {

// YAML: `cores`, and if wanted `memory_gib`, `cpu` (the processor's name) and `sixteen_bit_instructions`
// (e.g. [avx512_bf16]). What the file leaves out is unknown. Throws ConfigError with file and line.
RecordMachine read_machine(const std::filesystem::path& file);

}  // namespace harness
