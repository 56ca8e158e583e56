// ddp: one process per device, gradients all-reduced in buckets while backward runs. Uses LibTorch's
// c10d::Reducer, which Python's DistributedDataParallel also uses, with the same order of calls.
#include <algorithm>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "bench/train/strategy/rank_strategy.h"

namespace bench {
namespace {

// A communication hook for the Reducer that all-reduces buckets in 16 bits, as PyTorch's fp16_compress_hook
// and bf16_compress_hook. LibTorch's C++ hook supports float16 only.
class CompressionHook : public c10d::CppCommHookInterface<c10::intrusive_ptr<c10d::ProcessGroup>> {
 public:
  CompressionHook(c10::intrusive_ptr<c10d::ProcessGroup> group, at::ScalarType type)
      : CppCommHookInterface(std::move(group)), type_(type) {}

  // Called by the Reducer when a bucket is full. A hook must divide by the number of ranks itself.
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor& buffer = bucket.getBuffer();
    std::vector<at::Tensor> message{buffer.to(type_).div_(state_->getSize())};
    return state_->allreduce(message)->getFuture()->then(
        [buffer](c10::ivalue::Future& done) {
          const at::Tensor sum = done.value().toTensorVector().at(0);
          at::Tensor(buffer).copy_(sum);
          return c10::IValue(std::vector<at::Tensor>{buffer});
        },
        c10::ListType::create(c10::TensorType::get()));
  }

 private:
  at::ScalarType type_;
};

class Ddp : public RankStrategy {
 public:
  explicit Ddp(const StrategyContext& context) : RankStrategy(context) {
    c10d::verify_params_across_processes(group_, parameters_, std::nullopt);
    broadcast_initial_state();
    make_reducer();
    model_.keep_gradient_memory(row_.gradient_as_bucket_view);  // otherwise each step copies from the views
    // Phase `backward` ends when the last gradient is ready; the rest is waiting for communication (`sync`).
    // These hooks run after the Reducer's, so a gradient is ready when it has been copied to its bucket.
    hooks_ = std::make_unique<GradientHooks>(parameters_, [this](size_t) {
      if (++ready_ == parameters_.size() && reduces_) clock_->enter(Phase::sync);
    });
  }

  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
    clock.enter(Phase::broadcast);
    if (reduces_) reducer_->prepare_for_forward();
    // Rebuilds the buckets once, after the first backward has determined the order of the gradients.
    if (!row_.static_buckets) reducer_->rebuild_buckets();
    if (row_.broadcast_buffers && reduced_before_) {  // after a forward pass without reduction none are sent
      if (buffers_.empty()) buffers_ = model_.buffer_tensors();
      if (!buffers_.empty())  // a transformer has none, and LibTorch refuses empty lists
        c10d::broadcast_coalesced(group_, buffers_, kBroadcastBufferBytes, 0);
    }
    clock.enter(Phase::forward);
    at::Tensor logits = precision_.forward(model_, images);
    if (reduces_) reducer_->prepare_for_backward({});  // without it the Reducer's hooks do nothing
    reduced_before_ = reduces_;
    return logits;
  }
  void reduce_next(bool on) override { reduces_ = on; }

  void backward(const at::Tensor& loss, PhaseClock& clock) override {
    ready_ = 0;
    clock_ = &clock;
    loss.backward();  // returns when the last bucket has been all-reduced
  }

  nlohmann::json describe() const override {
    nlohmann::json buckets = nlohmann::json::array();
    for (const c10d::GradBucket& bucket : reducer_->get_grad_buckets()) {
      const at::Tensor& buffer = bucket.getBuffer();
      buckets.push_back({{"bytes", buffer.nbytes()}, {"parameters", bucket.getParameters().size()}});
    }
    return {{"buckets", buckets}};
  }

 private:
  void make_reducer() {
    const std::vector<bool> sparse(parameters_.size(), false);
    const auto bytes = [](double mib) { return int64_t(mib * 1048576); };
    // Python's DDP starts with one bucket per dtype and splits by size when it rebuilds the buckets.
    const std::vector<size_t> limits =
        row_.static_buckets
            ? std::vector<size_t>{size_t(bytes(row_.first_bucket_mib)), size_t(bytes(row_.bucket_mib))}
            : std::vector<size_t>{std::numeric_limits<int>::max()};
    auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(parameters_, limits, sparse));
    std::reverse(buckets.begin(), buckets.end());
    std::unordered_map<size_t, std::string> names;
    for (size_t i = 0; i < parameters_.size(); ++i) names[i] = model_.parameters()[i].name;
    reducer_ = std::make_shared<c10d::Reducer>(
        parameters_, buckets, group_, sparse, bytes(row_.bucket_mib), /*find_unused_parameters=*/false,
        row_.gradient_as_bucket_view, names, bytes(row_.first_bucket_mib),
        /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false, std::vector<int64_t>());
    logger_ = std::make_shared<c10d::Logger>(reducer_);
    reducer_->set_logger(logger_);
    if (row_.compression != "none")
      reducer_->register_comm_hook(
          std::make_unique<CompressionHook>(group_, row_.compression == "fp16" ? at::kHalf : at::kBFloat16));
    logger_->set_construction_data_and_log(row_.model, {}, -1, row_.broadcast_buffers, row_.sync_bn,
                                           /*static_graph=*/false);
  }

  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
  std::unique_ptr<GradientHooks> hooks_;
  std::vector<at::Tensor> buffers_;
  size_t ready_ = 0;
  bool reduces_ = true, reduced_before_ = true;
};

const bool registered_strategy_ddp = StrategyRegistry::instance().add(
    {"strategy",
     "ddp",
     "a process per device, bucketed all-reduce during backward (c10d::Reducer)",
     {.process_per_device = true, .several_devices = true}},
    [](const StrategyContext& context) { return std::make_unique<Ddp>(context); });

}  // namespace
}  // namespace bench
