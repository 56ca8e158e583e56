// The training steps in a trace, with the phases that the probe would have told.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/own_job/probe_report.h"
#include "harness/own_job/profiler_trace.h"

namespace harness {

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
