// A network as plain tensors and functions without a module tree, so that strategies can copy, convert or
// reduce the list of tensors directly. Each network is one file in this folder; names, structure and initial
// weights are torchvision's.
#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/registry/registry.h"
#include "harness/contract/row.h"

namespace bench {

struct NamedTensor {
  std::string name;  // as in torchvision's state_dict, e.g. layer2.0.downsample.1.weight
  at::Tensor tensor;
  size_t unit = 0;             // of the model that it belongs to
  bool of_batch_norm = false;  // a scale or shift
};

// Batch normalisation in training mode: normalises x (N x C x H x W) with its own statistics and updates the
// running statistics (C) with kBatchNormMomentum. Differentiable in x, scale and shift (both C).
class BatchNorm {
 public:
  virtual ~BatchNorm() = default;
  virtual at::Tensor forward(size_t layer, const at::Tensor& x, const at::Tensor& scale,
                             const at::Tensor& shift, at::Tensor& running_mean,
                             at::Tensor& running_variance) = 0;
  // Its messages alone, for a device that computes no values: the statistics that a layer gathers from all
  // ranks (one tensor per rank), and the sums that backward all-reduces in place.
  virtual std::vector<at::Tensor> all_of(size_t layer, const at::Tensor& mine) = 0;
  virtual void sum_backward(at::Tensor& sums) = 0;
};
constexpr double kBatchNormEpsilon = 1e-5, kBatchNormMomentum = 0.1;

// A part of a network: consecutive units, which strategies can divide among devices. A unit is the stem, a
// block or the classifier; its output is the input of the next one.
struct Units {
  size_t first = 0, end = size_t(-1);  // those from `first` on that are below `end`
};

class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;

  // x: images, N x 3 x H x W, or what the unit before returned, in the type of the weights (under autocast
  // any type). Returns logits N x classes, or what the last of these units returns. May be called from any
  // thread, but not concurrently for the same unit (updates running statistics in place).
  at::Tensor forward(at::Tensor x, const Units& part = {});

  // Computes forward() in another way, for a device whose tensors hold no values.
  using Forward = std::function<at::Tensor(const Model& model, const at::Tensor& x, const Units& part)>;
  void replace_forward(Forward forward) { forward_ = std::move(forward); }

  size_t units() const { return units_; }

  // Training (batch norm with batch statistics, dropout) or not (running statistics, no dropout; for
  // validation and gradient checks).
  void use_batch_statistics(bool on) { batch_statistics_ = on; }

  int64_t classes() const { return classes_; }
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  // Running statistics (float32) and batch counts (int64).
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  std::vector<at::Tensor> parameter_tensors() const;
  std::vector<at::Tensor> buffer_tensors() const;
  std::vector<at::Tensor> gradient_tensors() const;  // in the order of parameters()

  // Copies the parameters and buffers of a model of the same shape, possibly on another device; the host need
  // not wait for it.
  void copy_values_of(const Model& other);

  // Moves parameters and buffers of these units in place; with `channels_last` convolution weights become
  // NHWC. Call before a strategy or optimizer uses them.
  void to(at::Device device, bool channels_last = false, const Units& part = {});
  // Changes a parameter's dtype in place; affects all handles of the tensor.
  void convert(size_t parameter, at::ScalarType type);
  // Releases the gradients, or with keep_gradient_memory(true) zeroes them in place (for strategies in which
  // they are views of communication buffers).
  void clear_gradients();
  void keep_gradient_memory(bool on) { keep_gradient_memory_ = on; }
  // Replaces at::batch_norm where batch statistics are used (not owned); null: at::batch_norm.
  void replace_batch_norm(BatchNorm* batch_norm) { batch_norm_ = batch_norm; }
  BatchNorm* batch_norm() const { return batch_norm_; }
  // Names of the batch-norm layers as in torchvision's state_dict, e.g. bn1, in forward order.
  std::vector<std::string> batch_norm_names() const;

 protected:
  // Seeds the generator of initial weights; a derived class then adds its tensors in torchvision's order, and
  // calls next_unit() before those of each unit but the first.
  explicit Model(const harness::Row& row);
  at::Tensor add_parameter(const std::string& name, at::Tensor tensor, bool of_batch_norm = false);
  at::Tensor add_buffer(const std::string& name, at::Tensor tensor);
  void next_unit() { ++units_; }
  bool training() const { return batch_statistics_; }

 private:
  // x: the images for the first unit, otherwise what the unit before returned.
  virtual at::Tensor compute(size_t unit, const at::Tensor& x) = 0;

  const int64_t classes_;
  size_t units_ = 1;
  std::vector<NamedTensor> parameters_, buffers_;
  bool batch_statistics_ = true, keep_gradient_memory_ = false;
  BatchNorm* batch_norm_ = nullptr;
  Forward forward_;
};

using ModelFactory = std::function<std::unique_ptr<Model>(const harness::Row&)>;
using ModelRegistry = Registry<ModelFactory>;

// The network of a row with its initial weights, on the CPU in float32. Throws std::invalid_argument for an
// unknown one.
std::unique_ptr<Model> make_model(const harness::Row& row);

}  // namespace bench
