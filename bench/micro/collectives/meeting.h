// Where ranks meet that MPI has started and that talk otherwise: Gloo's and NCCL's.
#pragma once
#include <optional>

#include "bench/train/backend/group.h"
#include "harness/base/listener.h"

namespace bench {

// A port that rank 0 listens on already, so that nobody else can take it; goes into `options`. Every rank
// makes one, and keeps it until its group stands. Throws std::invalid_argument when this node has no such
// interface.
class Meeting {
 public:
  explicit Meeting(GroupOptions& options);

 private:
  std::optional<base::Listener> listener_;
};

}  // namespace bench
