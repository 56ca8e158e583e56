// GPU readings taken during the timed batches, and their summary for the record. No CUDA here.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/contract/record_extras.h"

namespace bench {

// One reading of one GPU. Values that the GPU or its driver doesn't provide are empty.
struct GpuReading {
  std::optional<double> utilisation_percent;         // share of time in which a kernel ran
  std::optional<double> memory_utilisation_percent;  // share of time in which its memory was accessed
  std::optional<double> sm_clock_mhz, memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<uint64_t> clock_reasons;  // NVML's bit mask of clock event reasons
};

struct GpuReadings {
  std::vector<GpuReading> samples;              // all GPUs of one rank, in time order
  std::optional<double> energy_j;               // energy that they used during the window
  std::vector<harness::GpuFacts> devices = {};  // one per GPU, at the window's end
};

// The record's key `gpu` for one rank (without its rank number) that trained `images` images. Values that no
// sample has are absent.
harness::RankGpu summary(const GpuReadings& readings, int64_t images);

}  // namespace bench
