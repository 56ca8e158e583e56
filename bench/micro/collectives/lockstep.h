// The same calls on all ranks at once: rank 0 says what to run next, the others do it with it.
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
  int carrier = 0;    // index
  int64_t bytes = 0;
  int64_t calls = 0;  // 0: that was all
};

// Seconds of each call, of the slowest rank: from leaving a barrier until the collective has ended there.
struct Times {
  bool right = true;  // this carrier and the bare one beside it gave what they should, on all ranks
  std::vector<double> calls;
  std::vector<double> bare_calls;  // of the carrier beside it, call by call in turn; empty without one
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
  void follow();        // every other rank, until rank 0 ends it

 private:
  Times run_once_told(const Run& run);
  bool is_right(const Run& run, at::Tensor& tensor);  // tried once for each operation, carrier and size
  double time(const Run& run, Carrier& carrier, at::Tensor& tensor);
  void take_slowest(std::vector<double>& seconds);
  void barrier();

  const std::vector<NamedCarrier>& carriers_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  // Of the host and of a GPU, for all sizes, so that none of them meets fresh pages.
  std::map<at::DeviceType, at::Tensor> memory_;
  std::set<std::array<int64_t, 3>> found_right_;
};

}  // namespace bench
