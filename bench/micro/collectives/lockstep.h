// Runs the same calls on all ranks: rank 0 broadcasts what to run next, the other ranks follow.
#pragma once
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

// Seconds per call on the slowest rank, from the end of a barrier to the end of the collective. The barrier
// is an all-reduce of one number over the same carrier, or its bare one, which all ranks leave at nearly the
// same time.
struct Times {
  bool right = true;  // results of this carrier and of its bare one were correct on all ranks
  std::vector<double> calls;
  std::vector<double> bare_calls;  // of the bare carrier, called alternately; empty without one
};

class Lockstep {
 public:
  // The largest message on a device: NVLink reaches its bandwidth only with hundreds of MB.
  static int64_t most_bytes(const at::Device& device) { return device.is_cpu() ? 48'000'000 : 256 << 20; }
  // group: of the same ranks, for all that is not timed.
  Lockstep(const std::vector<NamedCarrier>& carriers, Group& group);

  Times lead(Run run);  // rank 0
  void end();           // rank 0, once
  void follow();        // every other rank; returns when rank 0 calls end()

 private:
  Times run_once_told(const Run& run);
  bool is_right(const Run& run, at::Tensor& tensor);  // checked once per operation, carrier and size
  void tell(Run& run);
  void take_largest(std::vector<double>& values);  // of all ranks, one by one

  const std::vector<NamedCarrier>& carriers_;
  Group& group_;
  c10d::ProcessGroup& processes_;
  const int rank_, size_;
  // Host and GPU memory for the largest message, reused for all sizes to avoid page faults.
  std::map<at::DeviceType, at::Tensor> memory_;
  std::set<std::array<int64_t, 3>> found_right_;
};

}  // namespace bench
