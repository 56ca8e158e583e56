// Stands in for nccl_carriers.cpp in bench_micro, which knows no GPUs; bench_micro_cuda has it.
#include "bench/micro/carriers.h"

namespace bench {

std::vector<NamedCarrier> make_gpu_carriers(GroupOptions) { return {}; }

}  // namespace bench
