// Stands in for hdf5.cpp in a build that found no HDF5: rows that ask for it end as SKIPPED with this reason.
#include "bench/registry.h"

namespace bench {
namespace {
const bool registered_storage_without_hdf5 = [] {
  for (const char* name : {"hdf5", "hdf5_whole"})
    registered_values().push_back({"storage",
                                   name,
                                   "one HDF5 file",
                                   {{"packed", true}},
                                   "this build found no HDF5: install libhdf5-dev and build again"});
  return true;
}();
}  // namespace
}  // namespace bench
