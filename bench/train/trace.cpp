// Starts and stops LibTorch's profiler at batch boundaries, and writes its events after the timed window.
#include "bench/train/trace.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <unistd.h>

#include <iostream>

#include "bench/train/clock/rank_timeline.h"
#include "bench/train/gpu/gpu_trace.h"
#include "bench/train/kineto_events.h"
#include "bench/train/rank.h"
#include "harness/base/machine.h"

namespace bench {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

static std::set<ActivityType> activities(bool on_gpu) {
  if (on_gpu) return {ActivityType::CPU, ActivityType::CUDA};
  return {ActivityType::CPU};
}

static ProfilerConfig configuration() {
  ProfilerConfig config(ProfilerState::KINETO, /*report_input_shapes=*/true);
  config.experimental_config.profile_all_threads = true;  // data_parallel has a thread per device
  return config;
}

// Offset from the steady clock (timelines) to ns since 1970 (Kineto's events).
static int64_t steady_clock_began_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(since_1970 - std::chrono::steady_clock::now().time_since_epoch()).count();
}

Trace::Trace(const RankInfo& rank, const Device& device, int64_t first, int64_t last)
    : rank_(rank), on_gpu_(device.torch_device().is_cuda()), first_(first), last_(last) {}

Trace::~Trace() {
  if (state_ == State::recording) stop();
  if (state_ == State::recorded && !recorded_) profiler::disableProfiler();
}

// On a GPU, recording starts at prepareProfiler(). So the slow first initialisation is done here with a
// recording that is discarded.
void Trace::prepare() {
  profiler::prepareProfiler(configuration(), activities(on_gpu_));
  if (on_gpu_ && first_ > 0) {
    profiler::enableProfiler(configuration(), activities(on_gpu_));
    profiler::disableProfiler();
  }
  if (first_ == 0) start();
}

void Trace::start() {
  if (on_gpu_ && first_ > 0) profiler::prepareProfiler(configuration(), activities(on_gpu_));
  profiler::enableProfiler(
      configuration(), activities(on_gpu_),
      {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE, at::RecordScope::BACKWARD_FUNCTION});
  state_ = State::recording;
  begin_ = std::chrono::steady_clock::now();
}

// Stops recording. Kineto's post-processing takes as long as several batches and is deferred to write(),
// except on a GPU, where recording would continue until then.
void Trace::stop() {
  if (auto* const recorder = torch::profiler::impl::ProfilerStateBase::get()) recorder->removeCallback();
  if (on_gpu_) recorded_ = profiler::disableProfiler();
  state_ = State::recorded;
}

void Trace::batch_ended(int64_t batch, const SliceParts& parts, SliceResult& result) {
  if (batch < first_ - 1 || batch > last_) return;
  result.clock.enter(Phase::other);  // of the next batch
  if (batch == last_) end_of_batches_ = std::chrono::steady_clock::now();
  if (batch >= first_) keep(batch, parts, result);
  if (batch == last_) {
    parts.device.synchronize();
    end_ = std::chrono::steady_clock::now();
    stop();
  }
  if (batch == first_ - 1) {
    parts.device.synchronize();
    start();
  }
}

void Trace::keep(int64_t batch, const SliceParts& parts, const SliceResult& result) {
  auto seen = rank_timeline(
      {result.clock.last_batch(), result.traffic.collectives, parts.strategy.device_intervals()}, rank_.rank);
  if (!seen) return;  // phase_clock=false
  // The timed window may start after the recording.
  if (batch == first_) begin_ = std::max(begin_, result.clock.last_batch().front().begin);
  harness::TracedBatch& traced = batches_.emplace_back();
  traced.batch = batch - parts.row.warmup_batches;
  traced.machine = seen->machine;
  traced.begin_ns = seen->begin_ns;
  traced.events = std::move(seen->events);
  for (const Spans::Span& span : parts.spans.all()) traced.spans_ms[span.name] = span.batches_ms.back();
}

std::optional<harness::RankTrace> Trace::write(const std::filesystem::path& folder) try {
  if (state_ != State::recorded) return std::nullopt;
  write_json(folder / fmt::format("rank-{}.timeline.json", rank_.rank),
             harness::encode(harness::RankTimelines{rank_.rank, ::getpid(), steady_clock_began_ns(),
                                                    base::host_name(), std::move(batches_)}));
  if (!recorded_) recorded_ = profiler::disableProfiler();
  state_ = State::idle;
  recorded_->save((folder / fmt::format("rank-{}.kineto.json", rank_.rank)).string());
  return on_gpu_ ? gpus() : std::nullopt;
} catch (const std::runtime_error& error) {
  std::cerr << "no trace: " << error.what() << '\n';
  return std::nullopt;
}

std::optional<harness::RankTrace> Trace::gpus() const {
  const int64_t clock_began_ns = steady_clock_began_ns();
  const auto ns = [&](Time time) {
    return clock_began_ns + std::chrono::nanoseconds(time.time_since_epoch()).count();
  };
  const auto gpus = summary(gpu_trace(*recorded_, ::gettid()),
                            {ns(begin_), ns(end_of_batches_), ns(end_), last_ - first_ + 1});
  if (!gpus)
    std::cerr << "the trace contains no GPU events: only one profiler at a time can record them, and --wrap "
                 "may have started another\n";
  return gpus;
}

}  // namespace bench
