// Times the all-reduces alone, training on a generated batch, and the loader without training.
#include "bench/train/ceiling.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/loading/loader/loader.h"

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

harness::RankCeilings compute_ceiling(const SliceParts& slice, const LoaderOptions& options,
                                      int64_t batches) {
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
  harness::RankCeilings ceilings;
  ceilings.batches = batches;
  ceilings.compute_ms = ms_since(begin) / double(batches);
  ceilings.compute_batch_ms.resize(size_t(batches));
  release_copied(parts);
  parts.group.barrier();
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    const std::vector<double> ms = clock.milliseconds(Phase(phase), 0, batches);
    for (size_t batch = 0; batch < ms.size(); ++batch) ceilings.compute_batch_ms[batch] += ms[batch];
    if (Phase(phase) == Phase::load) continue;
    const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / double(batches);
    if (mean > 0) ceilings.compute[std::string(kPhaseNames[phase])] = mean;
  }
  // The first batch finds an idle device and ends for the host before its backward has; the wait at the end
  // makes up for it.
  std::vector<double>& batch_ms = ceilings.compute_batch_ms;
  const double all_ms = std::accumulate(batch_ms.begin(), batch_ms.end(), 0.0);
  batch_ms[0] += std::max(0.0, ceilings.compute_ms * double(batches) - all_ms);
  return ceilings;
}

void loader_ceiling(Loader& loader, Group& group, harness::ProgressSlot& progress,
                    harness::RankCeilings& ceilings) {
  group.barrier();
  loader.start();
  loader.release(loader.next());
  const auto begin = std::chrono::steady_clock::now();
  double before_ms = 0, read_ms = 0, decode_ms = 0;
  for (int64_t i = 0; i < ceilings.batches; ++i) {
    const Batch batch = loader.next();
    const double now_ms = ms_since(begin);
    ceilings.loader_batch_ms.push_back(now_ms - before_ms);
    before_ms = now_ms;
    read_ms += batch.read_ms;
    decode_ms += batch.decode_ms;
    loader.release(batch);
    ++progress.batches;
  }
  ceilings.loader_ms = ms_since(begin) / double(ceilings.batches);
  ceilings.read_ms = read_ms;
  ceilings.decode_ms = decode_ms;
  group.barrier();
}

}  // namespace bench
