// The phases of a training step in their order in time. bench/README.md defines each of them.
#pragma once
#include <array>
#include <string_view>

namespace harness {

enum class Phase {
  load,
  h2d,
  scatter,
  broadcast,
  forward,
  gather,
  loss,
  backward,
  reduce,
  sync,
  step,
  other
};

inline constexpr std::array<std::string_view, 12> kPhaseNames = {"load",    "h2d",    "scatter", "broadcast",
                                                                 "forward", "gather", "loss",    "backward",
                                                                 "reduce",  "sync",   "step",    "other"};

// What the time of a phase tells about. In a phase of the link, a rank also waits for other ranks.
enum class StepPart { loading, copying, link, computing, other };

inline constexpr std::array<std::string_view, 5> kStepPartNames = {"loading", "copying", "link", "computing",
                                                                   "other"};

constexpr StepPart part_of(Phase phase) {
  if (phase == Phase::load) return StepPart::loading;
  if (phase == Phase::h2d || phase == Phase::scatter || phase == Phase::gather) return StepPart::copying;
  if (phase == Phase::broadcast || phase == Phase::reduce || phase == Phase::sync) return StepPart::link;
  return phase == Phase::other ? StepPart::other : StepPart::computing;
}

}  // namespace harness
