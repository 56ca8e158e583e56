// Stands in for the ranks' side in a build that found no MPI; start_ranks has said so already.
#include "bench/micro/ranks.h"

namespace bench {

int run_rank(const MicroOptions&) { throw BadOption("this build found no MPI, which ranks need"); }

}  // namespace bench
