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

}  // namespace harness
