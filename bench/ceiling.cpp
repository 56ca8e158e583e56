#include "bench/ceiling.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace bench {

constexpr int kWarmUpRounds = 3, kRounds = 21;

double all_reduce_ceiling_ms(Group& group, const std::vector<Traffic::Message>& messages) {
  if (messages.empty()) return 0;
  std::vector<std::vector<at::Tensor>> buffers;
  for (const Traffic::Message& message : messages) {
    const auto type = at::ScalarType(message.type);
    buffers.push_back({at::zeros({message.bytes / int64_t(c10::elementSize(type))}, type)});
  }
  std::vector<double> rounds;
  for (int round = -kWarmUpRounds; round < kRounds; ++round) {
    group.barrier();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<c10::intrusive_ptr<c10d::Work>> posted;
    for (auto& buffer : buffers) posted.push_back(group.process_group()->allreduce(buffer));
    for (auto& work : posted) work->wait();
    if (round >= 0)
      rounds.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

}  // namespace bench
