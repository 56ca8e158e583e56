// Parts of the verdict that need a device's own times, or those of several ranks.
#pragma once
#include <optional>

#include "harness/contract/record.h"

namespace harness {

// Of a device that runs behind the host; ms per batch, means over ranks.
struct DeviceSteps {
  double computing = 0;  // the device's phases forward, loss, backward, step, gaps between kernels included
  // The host's time for launching these: its phases forward, backward, step. Its phase `loss` is left out,
  // because there it waits for the device.
  double launching = 0;

  // The device goes no faster than the host launches: if it did the work while the host was ahead, the host
  // would have to wait for it, and its launching would be shorter than the device's computing.
  bool bound_by_launches() const { return computing > 0 && launching >= kLaunchBound * computing; }
  static constexpr double kLaunchBound = 0.9;
};
// Nullopt without times of a device.
std::optional<DeviceSteps> device_steps(const Record& record);

// Why ranks wait in `broadcast` and `sync`: what rank_views() says of them.
struct RankWaits {
  double mean_ms = 0;               // mean over ranks
  double critical_ms = 0;           // of the critical path: what also the rank waits that the others wait for
  std::optional<size_t> slow_rank;  // the same rank was critical in kMostBatches of the batches

  // Most of the time is waiting for another rank and not for the wire.
  bool for_a_rank() const { return critical_ms < kMostlyWire * mean_ms; }
  static constexpr double kMostlyWire = 0.5, kMostBatches = 0.75;
};
// Nullopt with one rank.
std::optional<RankWaits> rank_waits(const Record& record);

}  // namespace harness
