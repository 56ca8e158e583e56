// Stands in for tfrecord.cpp in a build without its libraries: rows that ask for it end as SKIPPED with this
// reason.
#include "bench/registry.h"

namespace bench {
namespace {
const bool registered_storage_without_tfrecord = [] {
  registered_values().push_back(
      {"storage",
       "tfrecord",
       "TFRecord shards",
       {{"packed", true}},
       "this build found no ISA-L or no protobuf: install libisal-dev and libprotobuf-dev and build again"});
  return true;
}();
}  // namespace
}  // namespace bench
