// Noise: how far two runs of one and the same thing lie apart on a machine, row by row.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// Effects below the margin aren't worth a verdict, however sure they are.
inline constexpr double kSmallestMargin = 0.02;

// Learned from A/A experiments: pairs of runs of the same row, side by side, nothing changed.
struct Noise {
  std::string machine;                               // fingerprint of where it was learned
  std::map<std::string, std::vector<double>> pairs;  // by row: log ratios of the pairs

  bool empty() const { return pairs.empty(); }
  // The larger of kSmallestMargin and the effect that 95 of 100 A/A experiments of `runs` pairs stay under
  // (resampled from the pairs with random signs). A row that no experiment holds takes the largest margin of
  // the others; without any: kSmallestMargin.
  double margin(const std::string& row, size_t runs) const;
};

// The pairs of an A/A experiment's records: sides A and B of the same block (record key `pair`).
Noise noise_of(const Records& records);

// The noise kept for this machine in `folder` (one file a machine, one line an experiment), all experiments
// together; empty when there is none. A damaged line is left out and named in `warnings`.
Noise read_noise(const std::filesystem::path& folder, const std::string& machine, std::ostream& warnings);
void append_noise(const std::filesystem::path& folder, const Noise& noise, const std::string& started_at);

}  // namespace harness
