// What a run says to its reader first: what to change next, what that was measured to be worth, and how far
// to trust it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/ratio.h"

namespace harness {

// A row that is faster than its base in the same run, and differs from it only by what a reader could do,
// too.
struct Remedy {
  const SummaryRow* base = nullptr;
  const SummaryRow* row = nullptr;
  std::vector<std::string> changes;  // `storage disk -> tmpfs`
  Ratio gain;                        // total_ratio(): times as fast as the base
};

struct Advice {
  std::optional<Remedy> remedy;  // the one with the largest gain above `noise`
  // The largest difference of two rows of this run that do the same work, e.g. tmpfs and [1], as a share. A
  // smaller gain is none. Nullopt without such rows.
  std::optional<double> noise;
  std::vector<std::string> doubts;  // why the figures are to be trusted less; empty: trust is high
};

// The summary must outlive the advice.
Advice advice_of(const Summary& summary);

// `Fix next`, `Worth` and `Trust` with their sentences; empty for runs of `explain` and `feed`, which have
// their own answers, and without a row that ran.
std::vector<std::pair<std::string, std::string>> advice_facts(const Summary& summary);

}  // namespace harness
