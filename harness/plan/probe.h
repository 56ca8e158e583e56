// Asks train_slice to try something out for a row.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/config/installation.h"
#include "harness/config/scales.h"
#include "harness/contract/job.h"
#include "harness/contract/row.h"

namespace harness {

inline constexpr int64_t kMostImagesTried = 1 << 17;

struct LargestBatch {
  int64_t images = 0;               // of one device; 0: not even one image fits
  std::optional<int64_t> too_many;  // the smallest number that was tried and did not fit; nullopt: all fitted
};

// Doubles the number of images from 1 on until it doesn't fit or kMostImagesTried is reached, then bisects
// until neighbours are known. `fits` is called at most 2 log2(kMostImagesTried) times.
LargestBatch largest_batch(const std::function<bool(int64_t images)>& fits);

// A probe waits for its kernels, and how long they take does not matter: in almost no time.
inline Emulation emulation_of_probe(const EmulatedDevice& device, int64_t batch_divisor) {
  return {device, batch_divisor, /*time_scale=*/1e-6};
}

// Whether a device's share of the job's row fits into its memory: tried with training steps in a process of
// its own (with probe.json in `folder` as its job), so that the memory is free. Throws PreparationError when
// the probe fails in another way.
bool probe_memory(const Installation& installation, Job job, const fs::path& folder);

// For `--scale auto` on GPUs whose memory may be too small for the article's batches: divides the scale's
// batches by the smallest power of two for which a training step of the most demanding row fits; found by
// running such steps. Adds the divisor to the scale's name and summary. `rows_at` resolves the rows at a
// scale. Throws PreparationError when even the smallest batches don't fit.
void fit_to_memory(const Installation& installation, Scale& scale,
                   const std::function<std::vector<Row>(const Scale&)>& rows_at);

}  // namespace harness
