// Broadcasts weights to the replicas of a process with several devices, and reduces their gradients.
#pragma once
#include <memory>
#include <vector>

#include "bench/train/model/model.h"

namespace bench {

class ReplicaExchange {
 public:
  virtual ~ReplicaExchange() = default;
  // Copies the first model's parameters and buffers to all others.
  virtual void broadcast() = 0;
  // Adds the other models' gradients to the first model's, then clears theirs.
  virtual void reduce() = 0;
};

// Copies tensor by tensor; works between any devices. The models (not owned) must outlive it; the first is
// the trained one.
std::unique_ptr<ReplicaExchange> make_plain_exchange(const std::vector<Model*>& models);

}  // namespace bench
