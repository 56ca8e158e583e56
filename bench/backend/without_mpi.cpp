// Stands in for mpi.cpp in a build that found no MPI: rows that ask for it end as SKIPPED with this reason.
#include "bench/registry.h"

namespace bench {
namespace {
const bool registered_backend_without_mpi = [] {
  registered_values().push_back({"backend", "mpi", "OpenMPI", {{"started_by_mpi", true}},
                                 "this build found no MPI: install libopenmpi-dev and openmpi-bin and build again"});
  return true;
}();
}  // namespace
}  // namespace bench
