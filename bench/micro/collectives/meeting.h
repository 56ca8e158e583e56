// Rendezvous for Gloo and NCCL between ranks that MPI started.
#pragma once
#include <optional>

#include "bench/train/backend/group.h"
#include "harness/base/listener.h"

namespace bench {

// Rank 0 listens on a free port; its address and port are broadcast with MPI and stored in `options`. Every
// rank must construct one and keep it until its group exists. Throws std::invalid_argument if this node has
// no such interface.
class Meeting {
 public:
  explicit Meeting(GroupOptions& options);

 private:
  std::optional<base::Listener> listener_;
};

}  // namespace bench
