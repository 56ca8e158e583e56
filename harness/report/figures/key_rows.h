// Key rows: the representative rows in figures with one panel per row, and their samples.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

// At most six measured rows with phase times, in the order of the summary. The article's key rows are
// preferred, then the first other rows.
std::vector<const SummaryRow*> key_rows(const Summary& summary);
// Names the article's key rows without figures: `No figure: 14 SKIPPED, ...`; empty if there are none.
std::string missing_key_rows(const Summary& summary);

// Sets a facet's panels by row, in the order of `titles`. A title's second line has `below` and `ran`.
struct PanelTitle {
  const SummaryRow* row;
  std::string below;
};
void set_panels(nlohmann::json& spec, const std::vector<PanelTitle>& titles);

// The ranks and batches that every list of {phase: [rank][batch]} has.
size_t ranks_of(const Samples& samples);
size_t batches_of(const Samples& samples);
// The step of each batch in ms: the slowest rank's sum of phases.
std::vector<double> steps_of(const Samples& samples);

// Rounded to four decimals, to keep the figures' files small.
double rounded(double value);

}  // namespace harness
