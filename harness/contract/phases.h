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
  switch (phase) {
    case Phase::load:
      return StepPart::loading;
    case Phase::h2d:
    case Phase::scatter:
    case Phase::gather:
      return StepPart::copying;
    case Phase::broadcast:
    case Phase::reduce:
    case Phase::sync:
      return StepPart::link;
    case Phase::other:
      return StepPart::other;
    default:
      return StepPart::computing;
  }
}

}  // namespace harness
