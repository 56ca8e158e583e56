// Several processes of bench_micro that measure collectives together.
#pragma once
#include <string>
#include <vector>

#include "bench/micro/options.h"

namespace bench {

// Whether mpirun, or srun --mpi=pmix, has started this process.
bool is_rank();

// Starts options.ranks processes of this program under mpirun, with these of its arguments, and waits for
// them; returns their exit code. Throws BadOption when that can't be done here.
int start_ranks(const MicroOptions& options, const std::vector<std::string>& arguments);

// A rank's whole life; returns its exit code.
int run_rank(const MicroOptions& options);

}  // namespace bench
