// Runs bench_micro as several processes to measure collectives.
#pragma once
#include <string>
#include <vector>

#include "bench/micro/options.h"

namespace bench {

// Whether mpirun or srun --mpi=pmix started this process.
bool is_rank();

// Starts options.ranks processes of this program under mpirun with the given arguments, waits for them and
// returns their exit code. Throws BadOption if this machine can't run them.
int start_ranks(const MicroOptions& options, const std::vector<std::string>& arguments);

// Runs this process as a rank; returns its exit code.
int run_rank(const MicroOptions& options);

}  // namespace bench
