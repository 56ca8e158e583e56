// `--wrap`: the program of one rank runs under another, such as perf stat, strace or gdb.
#pragma once
#include "harness/launch/rank_program.h"

namespace harness {

// Ranks that this machine starts one by one: the rank's program becomes the wrapped one, if it is that rank
// that --wrap-rank names.
void wrap_rank(base::Command& command, int64_t rank, const Words& program, const Request& request,
               const fs::path& directory);

// Ranks that one command starts all together: each finds its number in `variable`. The program itself
// without --wrap.
Words wrapped_where(const std::string& variable, const Words& program, const Request& request,
                    const fs::path& directory);

}  // namespace harness
