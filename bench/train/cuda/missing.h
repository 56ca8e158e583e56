// Why train_slice knows the values that need a GPU by name alone: train_slice_cuda has them.
#pragma once

namespace bench {

inline constexpr const char* kNoCuda =
    "this machine showed no NVIDIA GPU with a driver; with one, and the CUDA toolkit, ./run_matrix builds "
    "and runs train_slice_cuda instead of train_slice";

}  // namespace bench
