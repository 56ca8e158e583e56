// The exchange between replicas on different GPUs as in torch.nn.DataParallel: NCCL broadcast and reduce of
// flattened tensors.
#pragma once
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/cuda/nccl.h>

#include <map>

#include "bench/train/device/replica_exchange.h"

namespace bench {

// Single-process, with LibTorch's NCCL communicators (torch::cuda::nccl). Uses the current stream of each
// GPU. Packs all tensors of one type into one message per GPU before the NCCL call, and unpacks them
// afterwards.
class NcclExchange : public ReplicaExchange {
 public:
  explicit NcclExchange(const std::vector<Model*>& models) : models_(models) {}

  void broadcast() override {
    at::NoGradGuard no_grad;
    std::vector<Tensors> state;
    for (const Model* model : models_) {
      state.push_back(model->parameter_tensors());
      for (const at::Tensor& buffer : model->buffer_tensors()) state.back().push_back(buffer);
    }
    if (state_.empty()) state_ = messages_of(state);
    for (Message& message : state_) {
      at::_foreach_copy_(message.views[0], chosen(state[0], message.tensors));
      torch::cuda::nccl::broadcast(message.flat);
      for (size_t gpu = 1; gpu < models_.size(); ++gpu) {
        const c10::cuda::CUDAGuard guard(message.flat[gpu].device());
        at::_foreach_copy_(chosen(state[gpu], message.tensors), message.views[gpu]);
      }
    }
  }

  void reduce() override {
    at::NoGradGuard no_grad;
    std::vector<Tensors> gradients;
    for (const Model* model : models_) gradients.push_back(model->gradient_tensors());
    if (gradients_.empty()) gradients_ = messages_of(gradients);
    for (Message& message : gradients_) {
      for (size_t gpu = 0; gpu < models_.size(); ++gpu) {
        const c10::cuda::CUDAGuard guard(message.flat[gpu].device());
        at::_foreach_copy_(message.views[gpu], chosen(gradients[gpu], message.tensors));
      }
      torch::cuda::nccl::reduce(message.flat, /*root=*/0);
      at::_foreach_copy_(chosen(gradients[0], message.tensors), message.views[0]);
    }
    for (size_t gpu = 1; gpu < models_.size(); ++gpu) models_[gpu]->clear_gradients();
  }

 private:
  using Tensors = std::vector<at::Tensor>;
  // All tensors of one type, flattened to one message per GPU.
  struct Message {
    std::vector<size_t> tensors;  // indices
    Tensors flat;                 // [GPU]
    std::vector<Tensors> views;   // [GPU]: views of flat, shaped as the tensors
  };

  static std::vector<Message> messages_of(const std::vector<Tensors>& by_gpu) {
    std::map<at::ScalarType, Message> by_type;
    for (size_t i = 0; i < by_gpu[0].size(); ++i) by_type[by_gpu[0][i].scalar_type()].tensors.push_back(i);
    std::vector<Message> messages;
    for (auto& [type, message] : by_type) {
      int64_t values = 0;
      for (const size_t i : message.tensors) values += by_gpu[0][i].numel();
      for (const Tensors& tensors : by_gpu) {
        message.flat.push_back(at::empty({values}, at::TensorOptions(type).device(tensors[0].device())));
        int64_t first = 0;
        Tensors& views = message.views.emplace_back();
        for (const size_t i : message.tensors) {
          // With the tensor's strides, so that copies are contiguous.
          views.push_back(message.flat.back().as_strided(tensors[i].sizes(), tensors[i].strides(), first));
          first += tensors[i].numel();
        }
      }
      messages.push_back(std::move(message));
    }
    return messages;
  }

  static Tensors chosen(const Tensors& all, const std::vector<size_t>& which) {
    Tensors some;
    for (const size_t i : which) some.push_back(all[i]);
    return some;
  }

  std::vector<Model*> models_;
  std::vector<Message> state_, gradients_;
};

}  // namespace bench
