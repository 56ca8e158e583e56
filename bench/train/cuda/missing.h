// The message for values that need a GPU in train_slice; train_slice_cuda implements them.
#pragma once

namespace bench {

inline constexpr const char* kNoCuda =
    "found no NVIDIA GPU with a driver on this machine; with one, and the CUDA toolkit, ./run_matrix builds "
    "and runs train_slice_cuda instead of train_slice";

}  // namespace bench
