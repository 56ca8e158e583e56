// Times the all-reduces alone, training on a generated batch, and the loader without training.
#include "bench/train/ceiling.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/loading/loader/fixed_batches.h"

namespace bench {

constexpr int kWarmUpRounds = 3, kCeilingRounds = 21, kUntimedBatches = 2;

static double ms_since(PhaseClock::Time begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double all_reduce_ceiling_ms(Group& group, Device& device, harness::ProgressSlot& progress,
                             const std::vector<Traffic::Message>& messages) {
  if (messages.empty()) return 0;
  std::vector<std::vector<at::Tensor>> buffers;
  for (const Traffic::Message& message : messages) {
    const auto type = at::ScalarType(message.type);
    buffers.push_back({at::zeros({message.bytes / int64_t(c10::elementSize(type))},
                                 at::TensorOptions(type).device(device.torch_device()))});
  }
  std::vector<double> rounds;
  for (int round = -kWarmUpRounds; round < kCeilingRounds; ++round) {
    group.barrier();
    device.timing_begins();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<c10::intrusive_ptr<c10d::Work>> posted;
    for (auto& buffer : buffers) posted.push_back(group.process_group()->allreduce(buffer));
    for (auto& work : posted) work->wait();
    device.synchronize();  // on a GPU wait() only enqueues a dependency
    if (round >= 0) rounds.push_back(ms_since(begin));
    ++progress.batches;
  }
  std::nth_element(rounds.begin(), rounds.begin() + kCeilingRounds / 2, rounds.end());
  return rounds[kCeilingRounds / 2];
}

ComputeCeiling compute_ceiling(const SliceParts& slice, const LoaderOptions& options, int64_t batches) {
  const auto made_up = make_fixed_batches(options);
  const SliceParts parts = slice.with(*made_up);
  PhaseClock unused(1, false), clock(batches, true);
  for (int batch = 0; batch < kUntimedBatches; ++batch)
    train_step(parts, unused, reads_loss(parts.row, batch));
  parts.device.synchronize();
  parts.group.barrier();
  parts.device.timing_begins();
  clock.start();
  const PhaseClock::Time begin = clock.last_boundary();
  for (int64_t batch = 0; batch < batches; ++batch) {
    train_step(parts, clock, reads_loss(parts.row, batch));
    ++parts.progress.batches;  // heartbeat for the watchdog
    clock.next_batch();
  }
  parts.device.synchronize();
  ComputeCeiling ceiling{ms_since(begin) / double(batches), {}, std::vector<double>(size_t(batches))};
  release_copied(parts);
  parts.group.barrier();
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    const std::vector<double> ms = clock.milliseconds(Phase(phase), 0, batches);
    for (size_t batch = 0; batch < ms.size(); ++batch) ceiling.batch_ms[batch] += ms[batch];
    if (Phase(phase) == Phase::load) continue;
    const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / double(batches);
    if (mean > 0) ceiling.phases_ms[std::string(kPhaseNames[phase])] = mean;
  }
  // The first batch finds an idle device and ends for the host before its backward has; the wait at the end
  // makes up for it.
  const double all_ms = std::accumulate(ceiling.batch_ms.begin(), ceiling.batch_ms.end(), 0.0);
  ceiling.batch_ms[0] += std::max(0.0, ceiling.ms * double(batches) - all_ms);
  return ceiling;
}

LoaderCeiling loader_ceiling(Loader& loader, Group& group, harness::ProgressSlot& progress, int64_t batches) {
  group.barrier();
  loader.start();
  loader.release(loader.next());
  LoaderCeiling ceiling;
  const auto begin = std::chrono::steady_clock::now();
  double before_ms = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const Batch batch = loader.next();
    const double now_ms = ms_since(begin);
    ceiling.batch_ms.push_back(now_ms - before_ms);
    before_ms = now_ms;
    ceiling.read_ms += batch.read_ms;
    ceiling.decode_ms += batch.decode_ms;
    loader.release(batch);
    ++progress.batches;
  }
  ceiling.ms = ms_since(begin) / double(batches);
  group.barrier();
  return ceiling;
}

}  // namespace bench
