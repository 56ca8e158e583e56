// Gives the parameters of each device an optimizer instance of their own.
#include "bench/train/optimizer/optimizer.h"

#include <c10/core/DeviceGuard.h>

#include <algorithm>

namespace bench {

namespace {

// A fused kernel takes tensors of one device, so that the parameters of each have an optimizer of their own.
class OptimizerByDevice : public Optimizer {
  using Tensors = std::vector<at::Tensor>;

 public:
  explicit OptimizerByDevice(const harness::Row& row) : row_(row) {}

  void step(const Tensors& parameters, const Tensors& gradients, const at::Tensor& found_inf) override {
    if (groups_.empty()) divide(parameters);
    if (groups_.size() == 1) return groups_[0].optimizer->step(parameters, gradients, found_inf);
    for (Group& group : groups_) {
      const c10::OptionalDeviceGuard guard(group.device);
      group.optimizer->step(chosen(parameters, group.members), chosen(gradients, group.members),
                            found_inf.defined() ? found_inf.to(group.device) : found_inf);
    }
  }

 private:
  struct Group {
    at::Device device;
    std::vector<size_t> members;
    std::unique_ptr<Optimizer> optimizer;
  };

  void divide(const Tensors& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      const at::Device device = parameters[i].device();
      auto group = std::ranges::find(groups_, device, &Group::device);
      if (group == groups_.end())
        group = groups_.insert(group,
                               Group{device, {}, OptimizerRegistry::instance().find(row_.optimizer)(row_)});
      group->members.push_back(i);
    }
  }
  static Tensors chosen(const Tensors& all, const std::vector<size_t>& members) {
    Tensors some;
    for (const size_t i : members) some.push_back(all[i]);
    return some;
  }

  const harness::Row row_;
  std::vector<Group> groups_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const harness::Row& row) {
  OptimizerRegistry::instance().find(row.optimizer);  // these throw for an unknown name
  learning_rate(row, 0);
  return std::make_unique<OptimizerByDevice>(row);
}

bool fused_works(const std::vector<at::Tensor>& parameters) {
  return std::all_of(parameters.begin(), parameters.end(),
                     [](const at::Tensor& p) { return !p.is_cpu() || p.scalar_type() == at::kFloat; });
}

}  // namespace bench
