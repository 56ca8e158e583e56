// A trace of one rank, written by torch.profiler (export_chrome_trace, tensorboard_trace_handler), or by a
// row with --trace (kineto/rank-N.json).
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/own_job/probe_report.h"

namespace harness {

struct TraceRange {
  double begin_us = 0, end_us = 0;  // on the trace's clock
  std::string name;
  int64_t thread = 0;
};

// Work of a GPU: a kernel, a copy or a memset.
struct DeviceRange : TraceRange {
  bool copy_to_device = false;
  double bytes = 0;                      // of a copy, 0: not told
  std::optional<double> launched_at_us;  // when the host called for it
};

struct ProfilerTrace {
  int64_t rank = 0, world = 1;
  std::string device;                  // the GPU's name; empty: the trace has no GPU
  double device_memory_bytes = 0;      // 0: not told
  std::vector<TraceRange> marks;       // ranges with names: steps, the loader's next, the optimizer's step
  std::vector<TraceRange> operators;   // of the host, backward's nodes among them
  std::vector<TraceRange> copy_calls;  // the host's calls for copies to the device
  std::vector<DeviceRange> work;
  // The first dimension of the first convolution's or linear layer's input; only with record_shapes=True.
  std::optional<int64_t> batch;
};

// Events in order of their beginnings. Reads gzip-compressed files too. Throws std::runtime_error with the
// file, what was expected and what was found when it is no trace or is cut off.
ProfilerTrace read_profiler_trace(const std::filesystem::path& file);

struct TracedSteps {
  ProbeSegment segment;  // its steps, `excluded` those without a backward pass
  // Phase -> ms of each step in which the GPU worked for it, overlaps counted once: that of the host when it
  // called for the work, `h2d` for copies to the device, `sync` for NCCL's kernels. Empty without a GPU.
  std::map<std::string, std::vector<double>> device_ms;
  double busy_share = 0;    // of the steps' time in which the GPU did anything
  double h2d_gb_per_s = 0;  // 0: no copy tells its bytes
};

// A step is a range `ProfilerStep#N` (profiler.step()); without any, what lies between two `next` of a
// DataLoader. Phases are exclusive times of the thread that steps: `load` within next, `step` within the
// optimizer's, `backward` from the first to the last node of autograd's in a row on any thread, `h2d` in
// calls for copies to the device, `sync` in collectives outside of backward, `forward` the rest before a
// backward, `other` what remains. items: of a batch. Throws std::runtime_error with the next step when there
// is no step with a backward pass.
TracedSteps traced_steps(const ProfilerTrace& trace, int64_t items);

}  // namespace harness
