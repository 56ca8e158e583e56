// Carriers run collectives between ranks: the suite's backends as the strategies use them and, for
// comparison, bare calls of MPI and NCCL.
#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/train/backend/group.h"

namespace bench {

enum class Operation { all_reduce, broadcast, reduce, point_to_point };

class Carrier {
 public:
  virtual ~Carrier() = default;
  // Runs a collective in place on a contiguous float32 tensor (reductions use SUM) and returns when it has
  // completed on this rank. Rank 0 is the root; point_to_point sends from rank 0 to the last rank. After
  // `reduce` only the root's tensor is defined. Throws std::runtime_error on failure.
  virtual void run(Operation operation, at::Tensor& tensor) = 0;
};

struct NamedCarrier {
  std::string name;
  std::unique_ptr<Carrier> carrier;
  std::string bare;              // name of the carrier to compare with; empty: none
  at::Device device = at::kCPU;  // device of its tensors
};

// Every rank must call both, in the same order. `options` has the store where the ranks have met.
// Empty if MPI did not start this process, or this build has none. The last one finalises MPI.
std::vector<NamedCarrier> make_mpi_carriers(const GroupOptions& options);
// Between GPUs; empty on all ranks if a node has fewer GPUs than ranks. group: of the same ranks.
std::vector<NamedCarrier> make_gpu_carriers(const GroupOptions& options, c10d::ProcessGroup& group);

}  // namespace bench
