// How a process with several devices brings weights to its replicas and gradients back.
#pragma once
#include <memory>
#include <vector>

#include "bench/train/model/resnet.h"

namespace bench {

class ReplicaExchange {
 public:
  virtual ~ReplicaExchange() = default;
  // The first model's parameters and buffers become those of all others.
  virtual void broadcast() = 0;
  // The others' gradients are added to the first model's, and cleared.
  virtual void reduce() = 0;
};

// Tensor by tensor, between any two devices. The models outlive it; the first is the one that is trained.
std::unique_ptr<ReplicaExchange> make_plain_exchange(const std::vector<ResNet*>& models);

}  // namespace bench
