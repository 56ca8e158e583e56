// The phases of a training step, in the order of time within it. bench/README.md defines what each holds.
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

}  // namespace harness
