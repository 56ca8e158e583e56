// Comparisons whose page is tested: rows with every verdict in turn.
#pragma once
#include <string>

#include "harness/compare/comparison.h"

// Row 0 is the same, 1 slower, 2 faster, 3 undecided, 4 the same, ...; the last of 8 and more isn't compared.
inline harness::Comparison made_up_comparison(size_t rows) {
  using harness::RowVerdict;
  const RowVerdict verdicts[] = {RowVerdict::same, RowVerdict::slower, RowVerdict::faster,
                                 RowVerdict::undecided};
  const double ratios[] = {1.002, 0.85, 1.12, 0.97};
  harness::Comparison comparison;
  for (size_t i = 0; i < rows; ++i) {
    harness::RowComparison row;
    row.id = std::to_string(i);
    row.verdict = verdicts[i % 4];
    row.margin = 0.02 + 0.005 * double(i % 3);
    const double ratio = ratios[i % 4], half = i % 4 == 3 ? 0.05 : 0.01;
    row.effect = {ratio, ratio * (1 - half), ratio * (1 + half), 0.961, 0.001, 0.004, 9, 9, true};
    row.a_s = 10 + double(i);
    row.b_s = row.a_s / ratio;
    row.faster.p = 0.01;
    row.reason = "beyond the margin of 2.0 %";
    row.changed = {"precision o0 -> bf16"};
    if (i % 4) row.phases = {{"load", (1 / ratio - 1) * 80, (1 / ratio - 1) * 0.8}, {"forward", -3, -0.03}};
    comparison.rows.push_back(row);
  }
  if (rows >= 8) comparison.rows.back().refused = {"batch 32 and 64"};
  return comparison;
}

inline harness::Comparison across_machines(harness::Comparison comparison) {
  comparison.across_machines = true;
  comparison.environment = {{"machine", "AMD EPYC, 2 cores, 24 GiB, cpu", "Xeon, 16 cores, 128 GiB, H100"},
                            {"kernel", "Linux 6.1", "Linux 6.8"},
                            {"GPU driver", "-", "555.42"}};
  for (harness::RowComparison& row : comparison.rows) {
    row.verdict = harness::RowVerdict::no_verdict;
    row.reason = "";
    row.effect.ratio *= 8, row.effect.low *= 7, row.effect.high *= 9;
    row.b_s /= 8;
    row.phases = {{"forward", -80, -0.7}, {"load", -12, -0.1}};
  }
  return comparison;
}
