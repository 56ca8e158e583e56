// What carries a collective from rank to rank: the backends of the suite as strategies use them and, to
// compare with, the same calls without anything around them.
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
  // Returns when it has ended on this rank; sums, in place. Rank 0 is the root, and the one that sends to the
  // last rank. At the end of `reduce` only the root's tensor means anything.
  virtual void run(Operation operation, at::Tensor& tensor) = 0;
};

struct NamedCarrier {
  std::string name;
  std::unique_ptr<Carrier> carrier;
  std::string bare;              // name of the one to set it beside; empty: none
  at::Device device = at::kCPU;  // where its tensors are
};

// All carriers of this build, of bare ones only those of its backends. Every rank must call it. MPI must have
// been initialised; it chooses and hands around where Gloo's ranks meet. They live no longer than MPI.
std::vector<NamedCarrier> make_carriers(Group& mpi, GroupOptions options);

// Those between GPUs; none where ranks outnumber the GPUs of their node.
std::vector<NamedCarrier> make_gpu_carriers(GroupOptions options);
// bare_mpi is MPI's non-blocking call, awaited as MpiBackend does, in the calling thread; blocking_mpi the
// blocking one, awaited as MPI does.
std::unique_ptr<Carrier> make_bare_mpi(bool blocking);
// bare_gloo: LibTorch's ProcessGroupGloo without c10d::ProcessGroup and TracedBackend around it.
std::unique_ptr<Carrier> make_bare_gloo(const GroupOptions& options);

}  // namespace bench
