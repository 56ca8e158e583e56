// `--wrap`: runs the program of one rank under another, such as perf stat, strace or gdb.
#pragma once
#include "harness/launch/rank_program.h"

namespace harness {

// For ranks started one by one: appends `program` to the command, wrapped if `rank` is --wrap-rank.
void wrap_rank(base::Command& command, int64_t rank, const Words& program, const Request& request,
               const fs::path& directory);

// For ranks started by one command: returns `program`, wrapped on the rank whose environment variable
// `variable` is --wrap-rank. Without --wrap, returns `program` unchanged.
Words wrapped_where(const std::string& variable, const Words& program, const Request& request,
                    const fs::path& directory);

}  // namespace harness
