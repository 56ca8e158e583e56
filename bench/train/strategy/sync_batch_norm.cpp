// Computes local statistics, and merges those of all ranks without loss of precision by cancellation.
#include "bench/train/strategy/sync_batch_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <chrono>
#include <cmath>

#include "bench/train/backend/process_group.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Addresses the H x W planes of a contiguous N x C x H x W float32 tensor; `size` is H x W.
struct Planes {
  int64_t images, channels, size;
  explicit Planes(const at::Tensor& x)
      : images(x.size(0)), channels(x.size(1)), size(x.size(2) * x.size(3)) {}
  template <class Float>
  Float* of(Float* data, int64_t image, int64_t channel) const {
    return data + (image * channels + channel) * size;
  }
};

// Sums with independent partial sums, so that the compiler can vectorise (it must not reorder floating-point
// additions).
template <class Term>
double sum_over(int64_t size, Term term) {
  constexpr int64_t kLanes = 16;
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  double sum = 0;
  for (float lane : lanes) sum += lane;
  for (; i < size; ++i) sum += term(i);
  return sum;
}

// Of this rank, as gather() takes them; the count is of each channel's values.
at::Tensor local_statistics(const at::Tensor& x) {
  const Planes planes(x);
  const double count = double(planes.images * planes.size);
  at::Tensor statistics = at::empty({2 * planes.channels + 1}, at::kDouble);
  double* result = statistics.mutable_data_ptr<double>();
  const float* data = x.const_data_ptr<float>();
  for (int64_t channel = 0; channel < planes.channels; ++channel) {
    double sum = 0, squares = 0;
    for (int64_t image = 0; image < planes.images; ++image) {
      const float* plane = planes.of(data, image, channel);
      sum += sum_over(planes.size, [&](int64_t i) { return plane[i]; });
    }
    const float mean = float(sum / count);
    for (int64_t image = 0; image < planes.images; ++image) {
      const float* plane = planes.of(data, image, channel);
      squares += sum_over(planes.size, [&](int64_t i) { return (plane[i] - mean) * (plane[i] - mean); });
    }
    const double shift = mean - sum / count;  // corrects for deviations from the rounded mean
    result[channel] = sum / count;
    result[planes.channels + channel] = squares - count * shift * shift;
  }
  result[2 * planes.channels] = count;
  return statistics;
}

struct SyncBatchNormFunction : torch::autograd::Function<SyncBatchNormFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& scale, const at::Tensor& shift, const at::Tensor& running_mean,
                            const at::Tensor& running_variance, SyncBatchNorm* all, int64_t layer) {
    const at::Tensor x = input.to(at::kFloat).contiguous();
    const Planes planes(x);
    const at::Tensor statistics = all->gather(size_t(layer), local_statistics(x));
    const double* means = statistics.const_data_ptr<double>();
    const double *squares = means + planes.channels, count = means[2 * planes.channels];
    at::Tensor y = at::empty_like(x), inverse_deviation = at::empty({planes.channels}, at::kDouble);
    double* inverse = inverse_deviation.mutable_data_ptr<double>();
    float *mean_so_far = running_mean.mutable_data_ptr<float>(),
          *variance_so_far = running_variance.mutable_data_ptr<float>();
    const float *data = x.const_data_ptr<float>(), *factor = scale.const_data_ptr<float>(),
                *offset = shift.const_data_ptr<float>();
    float* out = y.mutable_data_ptr<float>();
    for (int64_t channel = 0; channel < planes.channels; ++channel) {
      const double variance = squares[channel] / count;
      inverse[channel] = 1 / std::sqrt(variance + kBatchNormEpsilon);
      // The running variance is unbiased, as in PyTorch.
      const auto move = [](float& value, double towards) {
        value = float((1 - kBatchNormMomentum) * value + kBatchNormMomentum * towards);
      };
      move(mean_so_far[channel], means[channel]);
      move(variance_so_far[channel], count > 1 ? squares[channel] / (count - 1) : variance);
      const float a = float(inverse[channel]) * factor[channel], mean = float(means[channel]),
                  b = offset[channel];
      for (int64_t image = 0; image < planes.images; ++image) {
        const float* from = planes.of(data, image, channel);
        float* to = planes.of(out, image, channel);
        for (int64_t i = 0; i < planes.size; ++i) to[i] = (from[i] - mean) * a + b;
      }
    }
    context->save_for_backward({x, scale, statistics, inverse_deviation});
    context->saved_data["all"] = reinterpret_cast<int64_t>(all);
    context->saved_data["type"] = input.scalar_type();
    return y.to(input.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &scale = saved[1];
    const Planes planes(x);
    const int64_t channels = planes.channels;
    const double *means = saved[2].const_data_ptr<double>(), *inverse = saved[3].const_data_ptr<double>();
    const double count = means[2 * channels];
    const at::Tensor dy = gradients[0].to(at::kFloat).contiguous();
    const float *data = x.const_data_ptr<float>(), *incoming = dy.const_data_ptr<float>();

    // Per channel: sum of dy, then sum of dy times x's deviation from the mean.
    at::Tensor sums = at::empty({2 * channels}, at::kDouble);
    double* sum = sums.mutable_data_ptr<double>();
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float mean = float(means[channel]);
      sum[channel] = sum[channels + channel] = 0;
      for (int64_t image = 0; image < planes.images; ++image) {
        const float *plane = planes.of(data, image, channel), *d = planes.of(incoming, image, channel);
        sum[channel] += sum_over(planes.size, [&](int64_t i) { return d[i]; });
        sum[channels + channel] += sum_over(planes.size, [&](int64_t i) { return d[i] * (plane[i] - mean); });
      }
    }
    at::Tensor dscale = at::empty_like(scale), dshift = at::empty_like(scale), dx = at::empty_like(x);
    float *to_scale = dscale.mutable_data_ptr<float>(), *to_shift = dshift.mutable_data_ptr<float>();
    for (int64_t channel = 0; channel < channels; ++channel) {
      to_shift[channel] = float(sum[channel]);
      to_scale[channel] = float(sum[channels + channel] * inverse[channel]);
    }
    reinterpret_cast<SyncBatchNorm*>(context->saved_data["all"].toInt())->sum_backward(sums);
    const float* factor = scale.const_data_ptr<float>();
    float* out = dx.mutable_data_ptr<float>();
    for (int64_t channel = 0; channel < channels; ++channel) {
      const float mean = float(means[channel]), mean_dy = float(sum[channel] / count);
      const float slope = float(sum[channels + channel] / count * inverse[channel] * inverse[channel]);
      const float a = float(inverse[channel]) * factor[channel];
      for (int64_t image = 0; image < planes.images; ++image) {
        const float *plane = planes.of(data, image, channel), *d = planes.of(incoming, image, channel);
        float* to = planes.of(out, image, channel);
        for (int64_t i = 0; i < planes.size; ++i) to[i] = (d[i] - mean_dy - (plane[i] - mean) * slope) * a;
      }
    }
    const auto type = context->saved_data["type"].toScalarType();
    return {dx.to(type), dscale, dshift, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

SyncBatchNorm::SyncBatchNorm(c10d::ProcessGroup* group, const std::vector<std::string>& layers, Spans& spans)
    : group_(c10::intrusive_ptr<c10d::ProcessGroup>::unsafe_reclaim_from_nonowning(group)), spans_(spans) {
  for (const std::string& layer : layers) forward_spans_.push_back(spans.add("sync_bn/" + layer));
  backward_span_ = spans.add("sync_bn_backward");
}

at::Tensor SyncBatchNorm::forward(size_t layer, const at::Tensor& x, const at::Tensor& scale,
                                  const at::Tensor& shift, at::Tensor& running_mean,
                                  at::Tensor& running_variance) {
  if (x.is_cuda())
    return sync_batch_norm_on_gpu(x, scale, shift, running_mean, running_variance, *this, layer);
  return SyncBatchNormFunction::apply(x, scale, shift, running_mean, running_variance, this, int64_t(layer));
}

namespace {

// Of a collective, from before it is posted. The host of an emulated device runs ahead of it, so that the
// instants of the stream tell the device's wait.
class Waiting {
 public:
  explicit Waiting(const at::Tensor& message)
      : guard_(message.device().type()), device_(message.device()), emulated_(message.is_privateuseone()) {
    if (emulated_) record(&before_);
  }
  ~Waiting() {
    if (emulated_)
      guard_.destroyEvent(before_, device_.index()), guard_.destroyEvent(after_, device_.index());
  }
  double ms_until(const c10::intrusive_ptr<c10d::Work>& work) {
    work->wait();
    if (!emulated_) return milliseconds_since(begin_);
    record(&after_);
    return guard_.elapsedTime(before_, after_, device_.index());
  }

 private:
  void record(void** event) const {
    guard_.record(event, guard_.getStream(device_), device_.index(), c10::EventFlag::BACKEND_DEFAULT);
  }

  const c10::impl::VirtualGuardImpl guard_;
  const at::Device device_;
  const bool emulated_;
  const Clock::time_point begin_ = Clock::now();
  void *before_ = nullptr, *after_ = nullptr;
};

}  // namespace

std::vector<at::Tensor> SyncBatchNorm::all_of(size_t layer, const at::Tensor& mine) {
  std::vector<at::Tensor> inputs{mine};
  std::vector<std::vector<at::Tensor>> outputs(1);
  for (int rank = 0; rank < group_->getSize(); ++rank) outputs[0].push_back(at::empty_like(mine));
  RECORD_USER_SCOPE(spans_.all()[forward_spans_[layer]].name);
  Waiting waiting(mine);
  spans_.count(forward_spans_[layer],
               waiting.ms_until(group_->allgather(outputs, inputs, at_once<c10d::AllgatherOptions>())));
  return std::move(outputs[0]);
}

at::Tensor SyncBatchNorm::gather(size_t layer, const at::Tensor& mine) {
  const std::vector<at::Tensor> all = all_of(layer, mine);
  at::Tensor whole = all[0].clone();
  const int64_t channels = (mine.numel() - 1) / 2;
  double* a = whole.mutable_data_ptr<double>();
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const double* b = all[rank].const_data_ptr<double>();
    const double count_a = a[2 * channels], count_b = b[2 * channels], count = count_a + count_b;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const double distance = b[channel] - a[channel];
      a[channel] += distance * count_b / count;
      a[channels + channel] += b[channels + channel] + distance * distance * count_a * count_b / count;
    }
    a[2 * channels] = count;
  }
  return whole;
}

void SyncBatchNorm::sum_backward(at::Tensor& sums) {
  std::vector<at::Tensor> message{sums};
  RECORD_USER_SCOPE("sync_bn_backward");
  Waiting waiting(sums);
  spans_.count(backward_span_,
               waiting.ms_until(group_->allreduce(message, at_once<c10d::AllreduceOptions>())));
}

}  // namespace bench
