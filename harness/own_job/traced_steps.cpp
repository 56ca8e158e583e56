// Cuts each step of a trace at the ends of the ranges that tell phases.
#include <algorithm>
#include <stdexcept>

#include "harness/own_job/profiler_trace.h"

namespace harness {
namespace {

constexpr const char* kStep = "ProfilerStep#";
constexpr const char* kNext = "enumerate(DataLoader)#";
constexpr const char* kOptimizer = "Optimizer.step#";
constexpr const char* kNode = "autograd::engine::evaluate_function";

struct Piece {
  double begin_us = 0, end_us = 0;
  double ProbeStep::*phase = nullptr;
};

bool starts_with(const TraceRange& range, const char* prefix) { return range.name.starts_with(prefix); }

bool is_collective(const std::string& name) {
  return name.starts_with("nccl") || name.starts_with("gloo:") || name.starts_with("c10d::");
}

std::vector<TraceRange> steps_in(const ProfilerTrace& trace) {
  std::vector<TraceRange> steps, nexts;
  for (const TraceRange& mark : trace.marks) {
    if (starts_with(mark, kStep)) steps.push_back(mark);
    if (starts_with(mark, kNext)) nexts.push_back(mark);
  }
  if (!steps.empty()) return steps;
  for (size_t i = 0; i + 1 < nexts.size(); ++i)
    if (nexts[i].thread == nexts[i + 1].thread)
      steps.push_back({nexts[i].begin_us, nexts[i + 1].begin_us, "", nexts[i].thread});
  return steps;
}

// Joins nodes of the backward pass between which the stepping thread starts nothing else.
std::vector<Piece> backward_passes(const ProfilerTrace& trace, int64_t thread) {
  std::vector<Piece> passes;
  bool other_work = true;
  for (const TraceRange& op : trace.operators) {
    const bool node = starts_with(op, kNode);
    if (!node) {
      const bool inside = !passes.empty() && op.begin_us < passes.back().end_us;
      other_work = other_work || (op.thread == thread && !inside);
      continue;
    }
    if (other_work)
      passes.push_back({op.begin_us, op.end_us, &ProbeStep::backward_ms});
    else
      passes.back().end_us = std::max(passes.back().end_us, op.end_us);
    other_work = false;
  }
  return passes;
}

// What tells a phase on the stepping thread, in order of precedence where ranges overlap.
std::vector<Piece> known_pieces(const ProfilerTrace& trace, int64_t thread) {
  std::vector<Piece> pieces;
  const auto add = [&](const TraceRange& range, double ProbeStep::*phase) {
    if (range.thread == thread) pieces.push_back({range.begin_us, range.end_us, phase});
  };
  for (const TraceRange& mark : trace.marks) {
    if (starts_with(mark, kNext)) add(mark, &ProbeStep::load_ms);
    if (starts_with(mark, kOptimizer)) add(mark, &ProbeStep::step_ms);
  }
  for (const Piece& pass : backward_passes(trace, thread)) pieces.push_back(pass);
  for (const TraceRange& call : trace.copy_calls) add(call, &ProbeStep::h2d_ms);
  for (const std::vector<TraceRange>* ranges : {&trace.marks, &trace.operators})
    for (const TraceRange& range : *ranges)
      if (is_collective(range.name)) add(range, &ProbeStep::sync_ms);
  return pieces;
}

// Divides a step into pieces without gaps. `known`: those that touch it, by precedence.
std::vector<Piece> pieces_of(const TraceRange& step, const std::vector<Piece>& known) {
  std::vector<double> cuts{step.begin_us, step.end_us};
  for (const Piece& piece : known)
    for (const double at : {piece.begin_us, piece.end_us})
      cuts.push_back(std::clamp(at, step.begin_us, step.end_us));
  std::ranges::sort(cuts);
  std::vector<Piece> pieces;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] == cuts[i + 1]) continue;
    const auto covering = std::ranges::find_if(
        known, [&](const Piece& piece) { return piece.begin_us <= cuts[i] && cuts[i + 1] <= piece.end_us; });
    pieces.push_back({cuts[i], cuts[i + 1], covering == known.end() ? nullptr : covering->phase});
  }
  // From the end: what no range tells is forward where the next turning point is a backward pass.
  bool before_backward = false;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->phase == &ProbeStep::backward_ms) before_backward = true;
    if (piece->phase == &ProbeStep::load_ms || piece->phase == &ProbeStep::step_ms) before_backward = false;
    if (!piece->phase) piece->phase = before_backward ? &ProbeStep::forward_ms : &ProbeStep::other_ms;
  }
  return pieces;
}

// ms that ranges cover, overlaps counted once.
double covered_ms(std::vector<std::pair<double, double>> ranges) {
  std::ranges::sort(ranges);
  double covered_us = 0, until = -std::numeric_limits<double>::max();
  for (const auto& [begin, end] : ranges) {
    covered_us += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return covered_us * 1e-3;
}

const char* name_of(double ProbeStep::*phase) {
  for (const auto& [name, time] : kProbePhases)
    if (time == phase) return name;
  return "other";
}

// Adds what the GPU did for a step: work belongs to the step in which the host called for it.
class DeviceTimes {
 public:
  DeviceTimes(const ProfilerTrace& trace, TracedSteps& found) : trace_(trace), found_(found) {}

  void add(const TraceRange& step, const std::vector<Piece>& pieces) {
    std::map<std::string, std::vector<std::pair<double, double>>> by_phase;
    std::vector<std::pair<double, double>> within;
    for (const DeviceRange& work : trace_.work) {
      if (work.begin_us < step.end_us && step.begin_us < work.end_us)
        within.emplace_back(std::max(work.begin_us, step.begin_us), std::min(work.end_us, step.end_us));
      const double called = work.launched_at_us.value_or(work.begin_us);
      if (called < step.begin_us || called >= step.end_us) continue;
      const auto at = std::ranges::find_if(pieces, [&](const Piece& piece) { return called < piece.end_us; });
      const char* phase = is_collective(work.name) ? "sync"
                          : work.copy_to_device    ? "h2d"
                          : at == pieces.end()     ? "other"
                                                   : name_of(at->phase);
      by_phase[phase].emplace_back(work.begin_us, work.end_us);
      if (work.copy_to_device && work.bytes > 0) {
        copied_bytes_ += work.bytes;
        copying_us_ += work.end_us - work.begin_us;
      }
    }
    busy_ms_ += covered_ms(std::move(within));
    steps_ms_ += (step.end_us - step.begin_us) * 1e-3;
    for (const auto& [name, phase] : kProbePhases)
      found_.device_ms[name].push_back(covered_ms(std::move(by_phase[name])));
  }

  void finish() {
    std::erase_if(found_.device_ms, [](const auto& phase) {
      return std::ranges::all_of(phase.second, [](double ms) { return ms == 0; });
    });
    if (steps_ms_ > 0) found_.busy_share = busy_ms_ / steps_ms_;
    if (copying_us_ > 0) found_.h2d_gb_per_s = copied_bytes_ / copying_us_ * 1e-3;
  }

 private:
  const ProfilerTrace& trace_;
  TracedSteps& found_;
  double busy_ms_ = 0, steps_ms_ = 0, copied_bytes_ = 0, copying_us_ = 0;
};

}  // namespace

TracedSteps traced_steps(const ProfilerTrace& trace, int64_t items) {
  TracedSteps found;
  const std::vector<TraceRange> steps = steps_in(trace);
  if (steps.empty())
    throw std::runtime_error(
        "it has no training step: call profiler.step() after each step, so that the trace has ranges "
        "ProfilerStep#N");
  const std::vector<Piece> known = known_pieces(trace, steps.front().thread);
  DeviceTimes device(trace, found);
  for (const TraceRange& step : steps) {
    std::vector<Piece> touching;
    std::ranges::copy_if(known, std::back_inserter(touching), [&](const Piece& piece) {
      return piece.begin_us < step.end_us && step.begin_us < piece.end_us;
    });
    const std::vector<Piece> pieces = pieces_of(step, touching);
    ProbeStep times;
    times.wall_ms = (step.end_us - step.begin_us) * 1e-3;
    for (const Piece& piece : pieces) times.*piece.phase += (piece.end_us - piece.begin_us) * 1e-3;
    if (times.backward_ms == 0) {
      ++found.segment.excluded;
      continue;
    }
    for (const Piece& piece : touching) found.segment.updates += piece.phase == &ProbeStep::step_ms;
    found.segment.items += items;
    found.segment.steps.push_back(times);
    device.add(step, pieces);
  }
  if (found.segment.steps.empty())
    throw std::runtime_error("none of its steps has a backward pass: trace steps of the training");
  device.finish();
  return found;
}

}  // namespace harness
