// Tells a strategy when each gradient is there, while backward is still running.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::autograd {
struct Node;
}

namespace bench {

class GradientHooks {
 public:
  // `ready` gets the index of each parameter whose gradient has just been accumulated, in the thread that
  // runs backward, after hooks that were installed earlier. Lives as long as this object.
  GradientHooks(const std::vector<at::Tensor>& parameters, std::function<void(size_t)> ready);

 private:
  std::shared_ptr<std::function<void(size_t)>> ready_;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;  // the hooks live in these
};

}  // namespace bench
