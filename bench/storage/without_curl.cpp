// Stands in for remote.cpp in a build that found no libcurl: rows that ask for it end as SKIPPED with this
// reason.
#include "bench/registry.h"

namespace bench {
namespace {

const bool registered_storage_without_curl = [] {
  registered_values().push_back(
      {"storage",
       "remote",
       "an HTTP object store (nginx on this machine), each image fetched with libcurl",
       {{"service", "http"}, {"page_cache", false}},
       "this build found no libcurl: install libcurl4-openssl-dev and build again"});
  return true;
}();

}  // namespace
}  // namespace bench
