#include "bench/trace.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <unistd.h>

#include <iostream>

#include "bench/rank.h"
#include "bench/timeline.h"
#include "harness/machine.h"

namespace bench {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

// A build for another device adds its activity here, e.g. ActivityType::CUDA; nothing else changes.
static const std::set<ActivityType> kActivities = {ActivityType::CPU};

static ProfilerConfig configuration() {
  ProfilerConfig config(ProfilerState::KINETO, /*report_input_shapes=*/true);
  config.experimental_config.profile_all_threads = true;  // data_parallel has a thread per device
  return config;
}

// Timelines are told by the steady clock, Kineto's events in nanoseconds since 1970.
static int64_t steady_clock_began_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(since_1970 - std::chrono::steady_clock::now().time_since_epoch()).count();
}

Trace::~Trace() {
  if (state_ == State::recording) stop();
  if (state_ == State::recorded) profiler::disableProfiler();
}

void Trace::prepare() {
  profiler::prepareProfiler(configuration(), kActivities);
  if (first_ == 0) start();
}

void Trace::start() {
  profiler::enableProfiler(
      configuration(), kActivities,
      {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE, at::RecordScope::BACKWARD_FUNCTION});
  state_ = State::recording;
}

// Ends the recording alone. Kineto's work on what it recorded takes as long as some batches and waits for
// write().
void Trace::stop() {
  if (auto* const recorder = torch::profiler::impl::ProfilerStateBase::get()) recorder->removeCallback();
  state_ = State::recorded;
}

void Trace::batch_ended(int64_t batch, const SliceParts& parts, SliceResult& result) {
  if (batch < first_ - 1 || batch > last_) return;
  if (batch == last_) {
    parts.device.synchronize();
    stop();
  }
  if (batch >= first_) keep(batch, parts, result);
  if (batch == first_ - 1) start();
  const int64_t next = batch + 1, warmup = parts.row.warmup_batches;
  const bool clock_runs = next != warmup && next != warmup + parts.row.timed_batches;
  if (clock_runs) result.clock.close(Phase::other);
}

void Trace::keep(int64_t batch, const SliceParts& parts, const SliceResult& result) {
  nlohmann::json timeline = rank_timeline(
      {result.clock.last_batch(), result.collectives, parts.strategy.device_intervals()}, rank_.rank);
  if (timeline.is_null()) return;  // phase_clock=false
  timeline["batch"] = batch - parts.row.warmup_batches;
  for (const Spans::Span& span : parts.spans.all()) timeline["spans_ms"][span.name] = span.batches_ms.back();
  batches_.push_back(std::move(timeline));
}

void Trace::write(const std::filesystem::path& folder) try {
  if (state_ != State::recorded) return;
  write_json(folder / fmt::format("rank-{}.timeline.json", rank_.rank),
             {{"rank", rank_.rank},
              {"host", harness::host_name()},
              {"pid", ::getpid()},
              {"clock_began_ns", steady_clock_began_ns()},
              {"batches", std::move(batches_)}});
  const auto recorded = profiler::disableProfiler();
  state_ = State::idle;
  recorded->save((folder / fmt::format("rank-{}.kineto.json", rank_.rank)).string());
} catch (const std::runtime_error& error) {
  std::cerr << "no trace: " << error.what() << '\n';
}

}  // namespace bench
