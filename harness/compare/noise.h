// Noise: the difference between two equal runs on a machine, by row.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/experiment/policy/policy.h"

namespace harness {

// Measured by A/A experiments: pairs of equal runs of a row, side by side.
struct Noise {
  using Pairs = std::map<std::string, std::vector<double>>;  // {row: log ratios of the pairs}
  std::string machine, started_at;
  std::map<std::string, Pairs> scales;  // apart, for a few short batches scatter more than a whole slice
  // A line of the machine's file.
  KEYS(Noise, KEY(machine, "fingerprint of where it ran"), KEY(started_at, "UTC, ISO 8601"),
       REQUIRED(scales, "by scale and row: log ratios of the pairs"));

  bool empty() const { return scales.empty(); }
  // The smallest relevant effect for `runs` pairs: the 95 % quantile of the effects of A/A experiments,
  // resampled from the pairs with random signs, but at least kSmallestMargin. A row without pairs gets the
  // largest margin of the other rows of its scale.
  double margin(const std::string& scale, const std::string& row, size_t runs) const;
};

// The pairs of an A/A experiment's records: sides A and B of the same block (record key `pair`).
Noise noise_of(const Records& records);

// Reads the noise of this machine from all experiments in `folder` (one file per machine, one line per
// experiment); empty if there is none. A damaged line is left out with a warning.
Noise read_noise(const std::filesystem::path& folder, const std::string& machine, std::ostream& warnings);
// Adds an experiment to the machine's file. Throws std::runtime_error when it can't be written.
void append_noise(const std::filesystem::path& folder, const Noise& noise);

}  // namespace harness
