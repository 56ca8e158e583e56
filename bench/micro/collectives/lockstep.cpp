#include "bench/micro/collectives/lockstep.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>

#include "bench/train/backend/mpi_backend.h"

namespace bench {

constexpr int kWarmUpCalls = 3;

Lockstep::Lockstep(const std::vector<NamedCarrier>& carriers) : carriers_(carriers) {
  for (const NamedCarrier& carrier : carriers)
    memory_.try_emplace(carrier.device.type(),
                        at::zeros({kMostBytes / int64_t(sizeof(float))}, at::TensorOptions(carrier.device)));
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
}

Times Lockstep::lead(Run run) {
  check_mpi(MPI_Bcast(&run, sizeof run, MPI_BYTE, 0, communicator_), "MPI_Bcast");
  return run_once_told(run);
}

void Lockstep::end() {
  Run last;
  check_mpi(MPI_Bcast(&last, sizeof last, MPI_BYTE, 0, communicator_), "MPI_Bcast");
}

void Lockstep::follow() {
  for (Run run;;) {
    check_mpi(MPI_Bcast(&run, sizeof run, MPI_BYTE, 0, communicator_), "MPI_Bcast");
    if (run.calls == 0) return;
    run_once_told(run);
  }
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
  for (int64_t call = -kWarmUpCalls; call < run.calls; ++call) {
    const double seconds = time(run, *chosen.carrier, tensor);
    const double bare_seconds = bare ? time(run, *bare, tensor) : 0;
    if (call < 0) continue;
    times.calls.push_back(seconds);
    if (bare) times.bare_calls.push_back(bare_seconds);
  }
  take_slowest(times.calls);
  take_slowest(times.bare_calls);
  return times;
}

// Checks with small integers that differ between ranks and between neighbouring elements. float32 sums them
// exactly over up to 1,024 ranks in any order.
bool Lockstep::is_right(const Run& run, at::Tensor& tensor) {
  const std::array<int64_t, 3> key = {run.operation, run.carrier, run.bytes};
  if (found_right_.count(key)) return true;
  const auto operation = Operation(run.operation);
  const at::Tensor pattern =
      at::arange(tensor.numel()).remainder_(31).add_(1).to(at::kFloat).to(tensor.device());
  tensor.copy_(pattern.mul(float(rank_ + 1)));
  barrier();
  carriers_.at(size_t(run.carrier)).carrier->run(operation, tensor);
  float factor = float(rank_ + 1);  // this rank's input
  if (operation == Operation::all_reduce || (operation == Operation::reduce && rank_ == 0))
    factor = float(size_ * (size_ + 1)) / 2;
  if (operation == Operation::broadcast || (operation == Operation::point_to_point && rank_ == size_ - 1))
    factor = 1;
  const bool any_will_do = operation == Operation::reduce && rank_ != 0;
  int right = any_will_do || at::equal(tensor, pattern * factor);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, communicator_), "MPI_Allreduce");
  tensor.fill_(0);  // sums of zeros stay zero
  if (right) found_right_.insert(key);
  return right;
}

double Lockstep::time(const Run& run, Carrier& carrier, at::Tensor& tensor) {
  barrier();
  const auto begin = std::chrono::steady_clock::now();
  carrier.run(Operation(run.operation), tensor);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Lockstep::take_slowest(std::vector<double>& seconds) {
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, seconds.data(), int(seconds.size()), MPI_DOUBLE, MPI_MAX, communicator_),
      "MPI_Allreduce");
}

void Lockstep::barrier() {
  MPI_Request request;
  check_mpi(MPI_Ibarrier(communicator_, &request), "MPI_Ibarrier");
  wait_for(request, "MPI_Ibarrier");  // spinning would occupy cores that late ranks need
}

}  // namespace bench
