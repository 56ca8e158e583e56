// In each cycle, gathers the ranks' ready gradients on rank 0, broadcasts its decision and reduces them.
#include "bench/train/strategy/fusion.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/unflatten_dense_tensors.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "bench/train/backend/process_group.h"

namespace bench {

using Clock = std::chrono::steady_clock;
constexpr int64_t kNone = -1;

Fusion::Fusion(c10::intrusive_ptr<c10d::ProcessGroup> group, size_t tensors, const FusionOptions& options)
    : group_(std::move(group)),
      options_(options),
      news_(at::empty({int64_t(tensors) + 1}, at::kLong)),
      verdict_(at::empty({int64_t(tensors) + 2}, at::kLong)),
      announced_by_(tensors, 0),
      stream_(options.device),
      tensors_(tensors) {
  if (group_->getRank() == 0)
    for (int rank = 0; rank < group_->getSize(); ++rank) all_news_.push_back(at::empty_like(news_));
  messages_.reserve(tensors);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Fusion::enqueue(size_t index, const at::Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  if (new_round_) messages_.clear();
  new_round_ = false;
  stream_.wait_for_current();
  tensors_[index] = tensor;
  enqueued_.push_back(index);
  ++unfinished_;
}

void Fusion::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return unfinished_ == 0 || ended_; });
  new_round_ = true;
  if (error_) std::rethrow_exception(error_);
  stream_.hold_up_current();
  if (unfinished_ > 0)
    throw std::runtime_error(
        "another rank ended while this one still had gradients to reduce; see that rank's error");
}

void Fusion::run(const std::stop_token& stop) {
  at::set_num_threads(1);
  at::NoGradGuard no_grad;
  const auto in_own_stream = stream_.enter();
  const auto cycle = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(options_.cycle_ms));
  std::exception_ptr error;
  try {
    for (auto next = Clock::now(); negotiate(stop.stop_requested());) {
      next = std::max(next + cycle, Clock::now());  // after a long cycle the next starts immediately
      std::this_thread::sleep_until(next);
    }
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
  ended_ = true;
  done_.notify_all();
}

bool Fusion::negotiate(bool stop) {
  {
    const std::lock_guard lock(mutex_);
    int64_t* news = news_.mutable_data_ptr<int64_t>();
    std::fill_n(news, news_.numel(), kNone);
    news[0] = stop;
    std::copy(enqueued_.begin(), enqueued_.end(), news + 1);
    enqueued_.clear();
  }
  std::vector<std::vector<at::Tensor>> outputs;
  if (group_->getRank() == 0) outputs.push_back(all_news_);
  std::vector<at::Tensor> inputs{news_}, verdict{verdict_};
  group_->gather(outputs, inputs, at_once<c10d::GatherOptions>())->wait();
  if (group_->getRank() == 0) decide();
  group_->broadcast(verdict, at_once<c10d::BroadcastOptions>())->wait();
  ++negotiations_;

  const int64_t* told = verdict_.const_data_ptr<int64_t>();
  const std::vector<int64_t> ready(told + 2, told + 2 + told[1]);
  // Fuses as many tensors of one dtype as fit into the buffer, in rank 0's order.
  for (size_t first = 0; first < ready.size();) {
    std::vector<size_t> together;
    int64_t bytes = 0;
    const at::ScalarType type = tensors_[size_t(ready[first])].scalar_type();
    for (; first < ready.size(); ++first) {
      const at::Tensor& tensor = tensors_[size_t(ready[first])];
      const bool fits = together.empty() || bytes + int64_t(tensor.nbytes()) <= options_.buffer_bytes;
      if (tensor.scalar_type() != type || !fits) break;
      bytes += int64_t(tensor.nbytes());
      together.push_back(size_t(ready[first]));
    }
    reduce_together(together);
  }
  return told[0] == 0;
}

// Rank 0: determines the tensors that all ranks have announced, in the order of their last announcement,
// sorted by dtype so that they can be fused.
void Fusion::decide() {
  bool stop = false;
  for (const at::Tensor& news : all_news_) {
    const int64_t* said = news.const_data_ptr<int64_t>();
    stop = stop || said[0] != 0;
    for (int64_t i = 1; i < news.numel() && said[i] != kNone; ++i)
      if (++announced_by_[size_t(said[i])] == group_->getSize()) ready_.push_back(said[i]);
  }
  std::stable_sort(ready_.begin(), ready_.end(), [&](int64_t a, int64_t b) {
    return tensors_[size_t(a)].scalar_type() < tensors_[size_t(b)].scalar_type();
  });
  int64_t* verdict = verdict_.mutable_data_ptr<int64_t>();
  verdict[0] = stop;
  verdict[1] = int64_t(ready_.size());
  std::copy(ready_.begin(), ready_.end(), verdict + 2);
  for (int64_t index : ready_) announced_by_[size_t(index)] = 0;
  ready_.clear();
}

void Fusion::reduce_together(const std::vector<size_t>& indices) {
  std::vector<at::Tensor> tensors;
  int64_t elements = 0;
  for (size_t index : indices) {
    tensors.push_back(tensors_[index]);
    elements += tensors.back().numel();
  }
  // The buffer has `buffer_bytes`, or more if a single tensor is larger.
  const int64_t bytes = elements * int64_t(tensors[0].element_size());
  if (!buffer_.defined() || int64_t(buffer_.nbytes()) < bytes)
    buffer_ = at::empty({std::max(bytes, options_.buffer_bytes)},
                        at::TensorOptions(at::kByte).device(options_.device));
  const at::Tensor fused = buffer_.narrow(0, 0, bytes).view(tensors[0].scalar_type());
  const std::vector<at::Tensor> views = at::unflatten_dense_tensors(fused, tensors);
  at::_foreach_copy_(views, tensors);
  std::vector<at::Tensor> message{fused};
  group_->allreduce(message, at_once<c10d::AllreduceOptions>())->wait();
  fused.mul_(1.0 / group_->getSize());
  at::_foreach_copy_(tensors, views);

  const std::lock_guard lock(mutex_);
  messages_.push_back({bytes, int64_t(indices.size())});
  for (size_t index : indices) tensors_[index].reset();
  unfinished_ -= indices.size();
  if (unfinished_ == 0) done_.notify_all();
}

}  // namespace bench
