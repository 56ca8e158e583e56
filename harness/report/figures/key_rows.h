// Key rows: the few that stand for the others where a figure has a panel per row, and their samples.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

// At most six measured rows with phase times, in the order of the summary: those that the article draws, then
// the first others.
std::vector<const SummaryRow*> key_rows(const Summary& summary);
// Of the rows that the article draws, those without figures here: `No figure: 14 SKIPPED, ...`.
std::string missing_key_rows(const Summary& summary);
// The same of some rows.
std::string missing(const std::vector<const SummaryRow*>& rows);

// Panels of a facet by row, in the order of `titles`; each title has a second line with `below` and what ran.
struct PanelTitle {
  const SummaryRow* row;
  std::string below;
};
void set_panels(nlohmann::json& spec, const std::vector<PanelTitle>& titles);

// Of {phase: [rank][batch]}: the batches that every list has,
size_t ranks_of(const Samples& samples);
size_t batches_of(const Samples& samples);
// A batch's step: the slowest rank's sum of phases.
std::vector<double> steps_of(const Samples& samples);

// Four digits behind the point: a figure's file stays small.
double rounded(double value);

}  // namespace harness
