// The cascade in images/s, as far as it can stand beside the article's: the figure `cascade` and its text
// twin.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

struct RowRate {
  // Owned by the summary; `first`: the one with which its chain of bases begins.
  const SummaryRow *row = nullptr, *first = nullptr;
  // This run, and its range over the repeats; empty unless it is OK.
  std::optional<double> here = {}, low = {}, high = {};
  std::optional<double> article = {};  // empty where the article states none or it can't be compared
  bool by_construction = false;        // `here` follows from a setting or from the article's figure itself
  int64_t batch = 0;                   // the article's images per batch
};

struct Rates {
  // Rows of another size than the article's, on real devices: not images/s but multiples of the row with
  // which the row's chain of bases begins. Only these can be compared.
  bool multiples = false;
  std::vector<RowRate> rows;  // in the order of the summary
};

// On emulated devices images/s are the article's: of its batch, and of devices that aren't slowed down by
// time_scale.
Rates rates_of(const Summary& summary);

}  // namespace harness
