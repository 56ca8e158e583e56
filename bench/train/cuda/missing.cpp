// The values that need a GPU, for a build without CUDA, where this file stands for the rest of the folder.
#include "bench/registry/registry.h"

namespace bench {
namespace {

constexpr const char* kNoCuda =
    "found no NVIDIA GPU with a driver on this machine; with one, and the CUDA toolkit, ./run_matrix builds "
    "and runs train_slice_cuda instead of train_slice";

const bool missing_device_cuda = register_missing({"device", "cuda", "NVIDIA GPUs"}, kNoCuda);
const bool missing_backend_nccl =
    register_missing({"backend", "nccl", "NCCL between GPUs", {.device = "cuda"}}, kNoCuda);

}  // namespace
}  // namespace bench
