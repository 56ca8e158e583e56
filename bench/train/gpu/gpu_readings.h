// What was read of a GPU while batches were timed, and what the record says of it. No CUDA here.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/contract/record_extras.h"

namespace bench {

// One reading of one GPU. A figure that the GPU or its driver doesn't tell is empty.
struct GpuReading {
  std::optional<double> utilisation_percent;         // share of time in which some kernel ran
  std::optional<double> memory_utilisation_percent;  // and in which its memory was read or written
  std::optional<double> sm_clock_mhz, memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<uint64_t> clock_reasons;  // why clocks are what they are, a bit each, as NVML numbers them
};

struct GpuReadings {
  std::vector<GpuReading> samples;  // of all GPUs of one rank, mixed
  std::optional<double> energy_j;   // that they took from the first to the last moment of the window
};

// The record's key `gpu` for one rank that trained so many images, without its number. What no sample has is
// absent.
harness::RankGpu summary(const GpuReadings& readings, int64_t images);

}  // namespace bench
