// Stands in for arrow.cpp and parquet.cpp in a build that found no Arrow: their rows end as SKIPPED with this
// reason.
#include "bench/registry.h"

namespace bench {
namespace {

const bool registered_storage_without_arrow = [] {
  const char* reason =
      "this build found no Apache Arrow 15 or newer: let ./run_matrix install the wheel pyarrow, or name an "
      "Arrow in "
      "CMAKE_PREFIX_PATH, and build again";
  registered_values().push_back({"storage", "arrow", "Arrow IPC file", {{"packed", true}}, reason});
  registered_values().push_back(
      {"storage", "parquet", "Parquet files", {{"packed", true}, {"stream", true}}, reason});
  return true;
}();

}  // namespace
}  // namespace bench
