// Verifies the result of each collective before timing it, and reports the time of the slowest rank.
#include "bench/micro/collectives/lockstep.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <chrono>

#include "bench/train/backend/process_group.h"

namespace bench {

constexpr int kWarmUpCalls = 3;

Lockstep::Lockstep(const std::vector<NamedCarrier>& carriers, Group& group)
    : carriers_(carriers),
      group_(group),
      processes_(*group.process_group()),
      rank_(processes_.getRank()),
      size_(processes_.getSize()) {
  for (const NamedCarrier& carrier : carriers)
    memory_.try_emplace(
        carrier.device.type(),
        at::zeros({most_bytes(carrier.device) / int64_t(sizeof(float))}, at::TensorOptions(carrier.device)));
}

Times Lockstep::lead(Run run) {
  tell(run);
  return run_once_told(run);
}

void Lockstep::end() {
  Run last;
  tell(last);
}

void Lockstep::follow() {
  for (Run run;;) {
    tell(run);
    if (run.calls == 0) return;
    run_once_told(run);
  }
}

void Lockstep::tell(Run& run) {
  std::vector<at::Tensor> bytes = {at::from_blob(&run, {sizeof run}, at::kByte)};
  processes_.broadcast(bytes, at_once<c10d::BroadcastOptions>())->wait();
}

void Lockstep::take_largest(std::vector<double>& values) {
  if (values.empty()) return;
  std::vector<at::Tensor> tensors = {at::from_blob(values.data(), {int64_t(values.size())}, at::kDouble)};
  auto options = at_once<c10d::AllreduceOptions>();
  options.reduceOp = c10d::ReduceOp::MAX;
  processes_.allreduce(tensors, options)->wait();
}

static double time(Operation operation, Carrier& carrier, at::Tensor& tensor) {
  const auto begin = std::chrono::steady_clock::now();
  carrier.run(operation, tensor);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Times Lockstep::run_once_told(const Run& run) {
  const NamedCarrier& chosen = carriers_.at(size_t(run.carrier));
  at::Tensor tensor = memory_.at(chosen.device.type()).narrow(0, 0, run.bytes / int64_t(sizeof(float)));
  Times times;
  times.right = is_right(run, tensor);
  Carrier* bare = nullptr;
  for (int other = 0; other < int(carriers_.size()); ++other) {
    if (carriers_[size_t(other)].name != chosen.bare) continue;
    bare = carriers_[size_t(other)].carrier.get();
    times.right = is_right({run.operation, other, run.bytes}, tensor) && times.right;
  }
  if (!times.right) return times;
  const auto operation = Operation(run.operation);
  at::Tensor one = tensor.narrow(0, 0, 1);
  const auto barrier = [&] { (bare ? *bare : *chosen.carrier).run(Operation::all_reduce, one); };
  for (int64_t call = -kWarmUpCalls; call < run.calls; ++call) {
    barrier();
    const double seconds = time(operation, *chosen.carrier, tensor);
    if (bare) barrier();
    const double bare_seconds = bare ? time(operation, *bare, tensor) : 0;
    if (call < 0) continue;
    times.calls.push_back(seconds);
    if (bare) times.bare_calls.push_back(bare_seconds);
  }
  take_largest(times.calls);
  take_largest(times.bare_calls);
  return times;
}

// Checks with small integers that differ between ranks and between neighbouring elements. float32 sums them
// exactly over up to 1,024 ranks in any order.
bool Lockstep::is_right(const Run& run, at::Tensor& tensor) {
  const std::array<int64_t, 3> key = {run.operation, run.carrier, run.bytes};
  if (found_right_.count(key)) return true;
  const auto operation = Operation(run.operation);
  const at::Tensor pattern =
      at::arange(tensor.numel(), tensor.device()).remainder_(31).add_(1).to(at::kFloat);
  tensor.copy_(pattern.mul(float(rank_ + 1)));
  group_.barrier();
  carriers_.at(size_t(run.carrier)).carrier->run(operation, tensor);
  float factor = float(rank_ + 1);  // this rank's input
  if (operation == Operation::all_reduce || (operation == Operation::reduce && rank_ == 0))
    factor = float(size_ * (size_ + 1)) / 2;
  if (operation == Operation::broadcast || (operation == Operation::point_to_point && rank_ == size_ - 1))
    factor = 1;
  const bool any_will_do = operation == Operation::reduce && rank_ != 0;
  std::vector<double> wrong = {any_will_do || at::equal(tensor, pattern * factor) ? 0.0 : 1.0};
  take_largest(wrong);
  tensor.fill_(0);  // sums of zeros stay zero
  if (wrong[0] == 0) found_right_.insert(key);
  return wrong[0] == 0;
}

}  // namespace bench
