// Notifies a strategy when each gradient is ready, while backward is still running.
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
  // Calls ready(index) when the gradient of a parameter has been accumulated, in the thread that runs
  // backward, after hooks that were installed earlier. Active for the lifetime of this object.
  GradientHooks(const std::vector<at::Tensor>& parameters, std::function<void(size_t)> ready);

 private:
  std::shared_ptr<std::function<void(size_t)>> ready_;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;  // own the hooks
};

}  // namespace bench
