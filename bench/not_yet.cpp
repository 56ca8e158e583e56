// Values that configs/article.yaml names and this version can't run: their rows end as SKIPPED with these
// reasons.
#include "bench/registry.h"

namespace bench {
namespace {

const bool registered = [] {
  const nlohmann::json none = nlohmann::json::object();
  for (const Value& value : {
           Value{"backend", "nccl", "NCCL", none, "the NCCL backend is not built yet"},
           Value{"device", "cuda", "NVIDIA GPUs", none, "CUDA devices are not built yet"},
       })
    registered_values().push_back(value);
  return true;
}();

}  // namespace
}  // namespace bench
