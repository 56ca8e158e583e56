// apex: reimplements the semantics of NVIDIA APEX's apex.parallel.DistributedDataParallel; the package is not
// used. The first backward records the order in which gradients become ready and divides them into buckets of
// one dtype that close at `message_size` elements; all ranks use rank 0's buckets. In later backward passes a
// complete bucket is flattened and all-reduced while backward continues, in bucket order, then averaged and
// copied back after backward. The first backward, and every one with `delay_allreduce`, reduces all gradients
// of a dtype as one flat message at the end. Buffers are not synchronised after the start: each rank keeps
// its own running statistics.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/unflatten_dense_tensors.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "bench/train/backend/process_group.h"
#include "bench/train/strategy/rank_strategy.h"
#include "bench/train/strategy/side_stream.h"

namespace bench {
namespace {

// Gradients that are reduced as one message.
struct Bucket {
  std::vector<size_t> parameters;
  at::Tensor flat;
  std::vector<at::Tensor> views;  // views of flat, shaped as the gradients
  size_t missing = 0;             // gradients not ready in this backward pass
  c10::intrusive_ptr<c10d::Work> work;
};

class Apex : public RankStrategy {
 public:
  explicit Apex(const StrategyContext& context)
      : RankStrategy(context),
        bucket_of_(parameters_.size()),
        stream_(context.device.torch_device()),
        hooks_(parameters_, [this](size_t parameter) { arrived(parameter); }) {
    broadcast_initial_state();
  }

  void backward(const at::Tensor& loss, PhaseClock& clock) override {
    const bool overlap = !buckets_.empty();
    arrivals_.clear();
    next_ = 0;
    clock_ = &clock;
    for (Bucket& bucket : buckets_) bucket.missing = bucket.parameters.size();
    loss.backward();
    at::NoGradGuard no_grad;
    if (overlap) {
      for (Bucket& bucket : buckets_) finish(bucket);
    } else {
      if (whole_.empty()) {
        std::vector<size_t> all(parameters_.size());
        std::iota(all.begin(), all.end(), 0);
        whole_ = cut(all, SIZE_MAX);
      }
      for (Bucket& bucket : whole_) launch(bucket);
      for (Bucket& bucket : whole_) finish(bucket);
      if (!row_.delay_allreduce) {
        agree_on_arrivals();
        buckets_ = cut(arrivals_, size_t(row_.message_size));
        whole_.clear();
        for (size_t i = 0; i < buckets_.size(); ++i)
          for (size_t parameter : buckets_[i].parameters) bucket_of_[parameter] = i;
      }
    }
    stream_.hold_up_current();
  }

  nlohmann::json describe() const override {
    nlohmann::json buckets = nlohmann::json::array();
    for (const Bucket& bucket : row_.delay_allreduce ? whole_ : buckets_)
      buckets.push_back({{"bytes", bucket.flat.nbytes()}, {"parameters", bucket.parameters.size()}});
    return {{"buckets", buckets}, {"semantics", "apex.parallel.DistributedDataParallel"}};
  }

 private:
  // Gradient hook, called during backward.
  void arrived(size_t parameter) {
    arrivals_.push_back(parameter);
    if (!buckets_.empty()) {
      --buckets_[bucket_of_[parameter]].missing;
      // In bucket order; otherwise ranks with another gradient order would reduce different messages.
      at::NoGradGuard no_grad;
      for (; next_ < buckets_.size() && buckets_[next_].missing == 0; ++next_) launch(buckets_[next_]);
    }
    if (arrivals_.size() == parameters_.size()) clock_->enter(Phase::sync);
  }

  // Flattening, reduction and copying back use a separate stream (APEX's bucket_streams), so that backward
  // continues.
  void launch(Bucket& bucket) {
    stream_.wait_for_current();
    const auto in_own_stream = stream_.enter();
    std::vector<at::Tensor> gradients;
    for (size_t parameter : bucket.parameters) gradients.push_back(parameters_[parameter].grad());
    at::_foreach_copy_(bucket.views, gradients);
    std::vector<at::Tensor> message{bucket.flat};
    bucket.work = group_->allreduce(message);
  }

  void finish(Bucket& bucket) {
    const auto in_own_stream = stream_.enter();
    bucket.work->wait();
    bucket.work.reset();
    bucket.flat.mul_(1.0 / group_->getSize());
    std::vector<at::Tensor> gradients;
    for (size_t parameter : bucket.parameters) gradients.push_back(parameters_[parameter].grad());
    at::_foreach_copy_(gradients, bucket.views);
  }

  // Every rank uses rank 0's order, as in APEX's sync_bucket_structure.
  void agree_on_arrivals() {
    const at::Tensor mine = at::empty({int64_t(arrivals_.size())}, at::kLong);
    std::copy(arrivals_.begin(), arrivals_.end(), mine.mutable_data_ptr<int64_t>());
    std::vector<at::Tensor> order{mine.to(parameters_[0].device())};  // a device that the backend supports
    group_->broadcast(order, at_once<c10d::BroadcastOptions>())->wait();
    const at::Tensor agreed = order[0].cpu();
    std::copy_n(agreed.const_data_ptr<int64_t>(), arrivals_.size(), arrivals_.begin());
  }

  // Divides the gradients, in the given order, into buckets of one dtype; a bucket closes at `elements`
  // elements. Buckets are in the order in which they close, unfilled ones last.
  std::vector<Bucket> cut(const std::vector<size_t>& order, size_t elements) const {
    std::vector<Bucket> buckets;
    std::map<at::ScalarType, std::pair<Bucket, size_t>> open;  // bucket and its number of elements
    for (size_t parameter : order) {
      auto& [bucket, filled] = open[parameters_[parameter].scalar_type()];
      bucket.parameters.push_back(parameter);
      if ((filled += size_t(parameters_[parameter].numel())) < elements) continue;
      buckets.push_back(std::move(bucket));
      open.erase(parameters_[parameter].scalar_type());
    }
    for (auto& [type, bucket] : open) buckets.push_back(std::move(bucket.first));
    for (Bucket& bucket : buckets) {
      std::vector<at::Tensor> like;
      int64_t size = 0;
      for (size_t parameter : bucket.parameters) {
        like.push_back(parameters_[parameter].detach());
        size += like.back().numel();
      }
      bucket.flat = at::empty({size}, like[0].options());
      bucket.views = at::unflatten_dense_tensors(bucket.flat, like);
    }
    return buckets;
  }

  std::vector<size_t> arrivals_;  // parameters in the order of this backward's gradients
  std::vector<Bucket> buckets_;   // empty before the first backward
  std::vector<Bucket> whole_;     // one per dtype
  std::vector<size_t> bucket_of_;
  SideStream stream_;
  size_t next_ = 0;  // next bucket to reduce
  GradientHooks hooks_;
};

const bool registered_strategy_apex = StrategyRegistry::instance().add(
    {"strategy",
     "apex",
     "a process per device, buckets in order of arrival (APEX DistributedDataParallel's semantics)",
     {.process_per_device = true, .several_devices = true}},
    [](const StrategyContext& context) { return std::make_unique<Apex>(context); });

}  // namespace
}  // namespace bench
