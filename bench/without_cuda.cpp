// Stands in for device/cuda.cpp and backend/nccl.cpp in train_slice, which runs without a GPU: rows that ask
// for them end as SKIPPED with this reason.
#include "bench/registry.h"

namespace bench {
namespace {

const bool registered_bench_without_cuda = [] {
  const nlohmann::json none = nlohmann::json::object();
  const std::string reason =
      "this machine showed no NVIDIA GPU with a driver; with one, and the CUDA toolkit, ./run_matrix builds "
      "and runs "
      "train_slice_cuda instead of train_slice";
  registered_values().push_back({"backend", "nccl", "NCCL between GPUs", none, reason});
  registered_values().push_back({"device", "cuda", "NVIDIA GPUs", none, reason});
  return true;
}();

}  // namespace
}  // namespace bench
