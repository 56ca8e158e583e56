// Runs the same calls on all ranks: rank 0 broadcasts what to run next, the other ranks follow.
#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "bench/micro/collectives/carriers.h"

namespace bench {

struct Run {
  int operation = 0;  // Operation
  int carrier = 0;    // index in the list of carriers
  int64_t bytes = 0;
  int64_t calls = 0;  // 0: end
};

// Seconds per call on the slowest rank, from the end of a barrier to the end of the collective.
struct Times {
  bool right = true;  // results of this carrier and of its bare one were correct on all ranks
  std::vector<double> calls;
  std::vector<double> bare_calls;  // of the bare carrier, called alternately; empty without one
};

class Lockstep {
 public:
  static constexpr int64_t kMostBytes = 48'000'000;
  explicit Lockstep(const std::vector<NamedCarrier>& carriers);
  ~Lockstep() { MPI_Comm_free(&communicator_); }
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  Times lead(Run run);  // rank 0
  void end();           // rank 0, once
  void follow();        // every other rank; returns when rank 0 calls end()

 private:
  Times run_once_told(const Run& run);
  bool is_right(const Run& run, at::Tensor& tensor);  // checked once per operation, carrier and size
  double time(const Run& run, Carrier& carrier, at::Tensor& tensor);
  void take_slowest(std::vector<double>& seconds);
  void barrier();

  const std::vector<NamedCarrier>& carriers_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  // Host and GPU memory for the largest message, reused for all sizes to avoid page faults.
  std::map<at::DeviceType, at::Tensor> memory_;
  std::set<std::array<int64_t, 3>> found_right_;
};

}  // namespace bench
