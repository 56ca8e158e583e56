// Runs bench_micro as several processes to measure collectives.
#pragma once
#include <string>
#include <vector>

#include "bench/micro/options.h"

namespace bench {

// Whether mpirun or srun --mpi=pmix started this process.
bool started_by_mpi();
// Whether MPI, start_ranks() or another launcher that sets RANK and WORLD_SIZE started this process.
bool is_rank();

// Starts options.ranks processes of this program with the given arguments: under mpirun where this build and
// this machine have MPI, otherwise each by itself. Waits for them and returns their exit code; when one
// fails, ends the others and says which and why. Throws std::runtime_error if this machine can't run them.
int start_ranks(const MicroOptions& options, const std::vector<std::string>& arguments);

// Runs this process as a rank; returns its exit code.
int run_rank(const MicroOptions& options);

// Runs the benchmarks that the filter names. Returns 1 when one erred, 2 when there were none.
int run_registered();

}  // namespace bench
