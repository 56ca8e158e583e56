// Runs the batches one after another, and collects times, loss, traffic and GPU readings between them.
#include "bench/train/slice.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <time.h>

#include "bench/loading/storage/cache_proof.h"
#include "bench/train/captured_step.h"
#include "bench/train/needless_work.h"
#include "bench/train/trace.h"
#include "bench/train/validation.h"

namespace bench {

using harness::RankState;

// Emulates a slower host program (an interpreter, logging) by using CPU time of this thread.
static void burden_host(double ms) {
  const auto used_ms = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return double(used.tv_sec) * 1e3 + double(used.tv_nsec) * 1e-6;
  };
  const double end = used_ms() + ms;
  while (used_ms() < end) continue;
}

static void note_traffic(const Traffic::Batch& batch, SliceResult& result, Spans& spans,
                         size_t communication) {
  spans.count(communication, batch.under_way_ms);
  for (size_t kind = 0; kind < batch.bytes.size(); ++kind) result.collective_bytes[kind] += batch.bytes[kind];
  result.traffic = batch;
}

static void add_metrics(const std::vector<StepResult>& steps, int64_t warmup, SliceResult& result) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const at::Tensor metrics = steps[i].metrics.cpu();
    const double* values = metrics.const_data_ptr<double>();
    result.loss.push_back(values[0]);
    if (int64_t(i) < warmup) continue;
    result.correct.top1 += int64_t(values[1]);
    result.correct.top5 += int64_t(values[2]);
    result.correct.images += steps[i].images;
  }
}

// ended: timed batches so far.
static void note_third(const SliceParts& parts, int64_t ended) {
  const int64_t all = parts.row.timed_batches;
  if (parts.cache && (ended == 0 || 3 * ended / all > 3 * (ended - 1) / all))
    parts.cache->third_begins_or_ends(parts.loader.stats().encoded_bytes);
}

SliceResult run_slice(const SliceParts& parts) {
  const harness::Row& row = parts.row;
  const int64_t warmup = row.warmup_batches, batches = warmup + row.timed_batches;
  SliceResult result(row, parts.device);
  PhaseClock& clock = result.clock;
  std::vector<StepResult> steps;
  steps.reserve(size_t(batches));
  Spans& spans = parts.spans;
  const size_t read = spans.add("read"), decode = spans.add("decode");
  Traffic* const traffic = parts.group.traffic();
  const size_t communication = traffic ? spans.add("communication") : 0;
  spans.start(batches);
  if (traffic) traffic->next_batch(), traffic->take_device_ms();
  std::optional<LinkBytes> link_before;
  harness::CpuTime cpu_time_before;
  PhaseClock::Time window_start;

  parts.progress.state = uint32_t(warmup > 0 ? RankState::warming_up : RankState::timing);
  if (warmup > 0) parts.loader.start();
  parts.device.timing_begins();
  clock.start();
  for (int64_t batch = 0; batch < batches; ++batch) {
    if (batch == warmup) {
      parts.device.synchronize();
      parts.group.barrier();
      parts.progress.state = uint32_t(RankState::timing);
      result.ready.at_start = warmup > 0 ? parts.loader.ready_batches() : 0;
      result.collective_bytes = {};
      link_before = parts.link.bytes();
      result.decoded = parts.loader.stats().decoded;
      if (parts.sampler) parts.sampler->start();
      note_third(parts, 0);
      cpu_time_before = harness::cpu_time_until_now();
      parts.device.timing_begins();
      clock.start();
      window_start = clock.last_boundary();
      if (warmup == 0) parts.loader.start();  // then the timed window includes the loader's start-up
    }

    steps.push_back(train_step(parts, clock, reads_loss(row, batch)));
    const StepResult& step = steps.back();

    if (row.host_work_ms > 0) burden_host(row.host_work_ms);
    spans.count(read, step.read_ms);
    spans.count(decode, step.decode_ms);
    if (traffic) note_traffic(traffic->next_batch(), result, spans, communication);
    spans.next_batch();
    parts.progress.batches.store(uint64_t(batch + 1), std::memory_order_relaxed);
    if (batch >= warmup) note_third(parts, batch - warmup + 1);
    clock.next_batch();
    parts.device.batch_ended();
    if (parts.trace) parts.trace->batch_ended(batch, parts, result);
  }
  parts.device.synchronize();
  result.ready.at_end = parts.loader.ready_batches();
  parts.group.barrier();
  result.total_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - window_start).count();
  result.cpu_time = harness::cpu_time_until_now() - cpu_time_before;
  if (const auto link_after = parts.link.bytes())
    result.link = {link_after->sent - link_before->sent, link_after->received - link_before->received};
  if (const auto now = parts.loader.stats().decoded)
    result.decoded = {now->jpeg_engine - result.decoded->jpeg_engine, now->cuda - result.decoded->cuda,
                      now->cpu - result.decoded->cpu};
  if (parts.sampler) result.gpu = parts.sampler->stop();
  if (traffic) spans.count_later(communication, traffic->take_device_ms());
  release_copied(parts);
  if (parts.device.computes() && harness::trains(row)) add_metrics(steps, warmup, result);
  parts.progress.state = uint32_t(RankState::finishing);
  return result;
}

// Adds the gradients of `weight` times the mean loss. Returns the metrics, with that loss, added to those of
// the micro-batches before, if any.
static at::Tensor add_gradients(const SliceParts& parts, const DeviceBatch& data, double weight,
                                PhaseClock& clock, bool read, const at::Tensor& before = {}) {
  const at::Tensor logits = parts.strategy.forward(data.images, clock);  // enters scatter .. gather
  if (parts.needless) parts.needless->after_phase();

  clock.enter(Phase::loss);
  at::Tensor loss = at::cross_entropy_loss(logits, data.labels);
  if (weight != 1) loss = loss.mul(weight);
  at::Tensor metrics = metrics_of(loss, logits, data.labels);  // part of the timed step, as in the article
  if (before.defined()) metrics = before.add(metrics);
  if (read) metrics = parts.device.read(metrics);
  if (parts.needless) parts.needless->keep(loss), parts.needless->after_phase();

  clock.enter(Phase::backward);
  parts.strategy.backward(parts.precision.scale_loss(loss), clock);  // enters reduce or sync
  if (parts.needless) parts.needless->after_phase();
  return metrics;
}

StepResult train_step(const SliceParts& parts, PhaseClock& clock, bool read) {
  clock.enter(Phase::load);
  const Batch host = parts.loader.next();
  StepResult result{.images = host.size, .read_ms = host.read_ms, .decode_ms = host.decode_ms};
  if (!harness::trains(parts.row)) {
    parts.loader.release(host);
    clock.enter(Phase::other);
    return result;
  }
  parts.device.batch_arrived(host);

  clock.enter(Phase::h2d);
  if (parts.needless) parts.needless->before_copy(host);
  DeviceBatch data = parts.device.copy_batch(host);
  if (parts.row.synchronize_copies) parts.device.synchronize();
  if (parts.needless) parts.needless->after_copy(data);
  // With one ring buffer the next batch is loaded into the buffer of this one.
  if (parts.row.ring_depth == 1 && (parts.row.handing_over == "ring" || parts.row.loader_threads == 0))
    parts.device.finish_copy();
  const auto copied =
      parts.device.take_copied();  // may wait for the copy before, and so for the step before it

  clock.enter(Phase::load);  // releasing may wake loader threads: counts as loading
  if (copied) parts.loader.release(*copied);

  if (parts.recorded && !parts.recorded->runs_as_always()) {
    result.metrics = parts.recorded->run(data, clock, read);  // enters forward, loss, backward, step, loss
    clock.enter(Phase::other);
    return result;
  }

  const int64_t micro_batches = parts.row.accumulation;
  if (micro_batches == 1)
    result.metrics = add_gradients(parts, data, 1, clock, read);
  else
    for (int64_t micro = 0; micro < micro_batches; ++micro) {
      const bool last = micro + 1 == micro_batches;
      parts.strategy.reduce_next(last || parts.row.sync_every_micro_batch);
      const int64_t size = data.images.size(0) / micro_batches;
      result.metrics = add_gradients(
          parts, {data.images.narrow(0, micro * size, size), data.labels.narrow(0, micro * size, size)},
          1 / double(micro_batches), clock, last && read, result.metrics);
    }

  clock.enter(Phase::step);
  parts.precision.step(parts.model);
  if (parts.needless) parts.needless->after_phase(), parts.needless->after_step();

  clock.enter(Phase::other);  // the autograd graph is freed in this phase
  return result;
}

void release_copied(const SliceParts& parts) {
  while (const auto copied = parts.device.take_copied()) parts.loader.release(*copied);
}

void warm_model(const SliceParts& parts, int64_t count) {
  const int64_t px = parts.row.image_px;
  const at::Device device = parts.device.torch_device();
  const at::Tensor images = at::rand({count, 3, px, px}, device),
                   labels = at::zeros({count}, at::TensorOptions(at::kLong).device(device));
  for (int step = 0; step < 3; ++step) {
    PhaseClock unused(1, false);
    const at::Tensor logits = parts.strategy.forward(images, unused);
    parts.strategy.backward(parts.precision.scale_loss(at::cross_entropy_loss(logits, labels)), unused);
    parts.model.clear_gradients();
  }
}

}  // namespace bench
