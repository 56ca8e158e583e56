// Values that configs/article.yaml names and this version can't run: their rows end as SKIPPED with these
// reasons.
#include "bench/registry.h"

namespace bench {
namespace {

const bool registered = [] {
  const nlohmann::json per_device = {{"process_per_device", true}, {"several_devices", true}};
  const nlohmann::json none = nlohmann::json::object();
  for (const Value& value : {
           Value{"strategy", "apex", "APEX DistributedDataParallel's semantics", per_device,
                 "the apex strategy is not built yet"},
           Value{"strategy", "horovod", "Horovod's semantics over MPI", per_device,
                 "the horovod strategy is not built yet"},
           Value{"backend", "mpi", "OpenMPI", none, "the MPI backend is not built yet"},
           Value{"backend", "nccl", "NCCL", none, "the NCCL backend is not built yet"},
           Value{"link", "ethernet", "two nodes over Ethernet", none,
                 "rows with two nodes are not built yet"},
           Value{"link", "infiniband", "two nodes over InfiniBand", none,
                 "rows with two nodes are not built yet"},
           Value{"device", "cuda", "NVIDIA GPUs", none, "CUDA devices are not built yet"},
       })
    registered_values().push_back(value);
  return true;
}();

}  // namespace
}  // namespace bench
