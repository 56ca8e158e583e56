// Accuracy by precision: what the rows with `validation` trained to, over their seeds.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

bool is_of_accuracy(const Record& record);  // its row has `validation`

// One per row, in the order in which rows first occur. A row of which a repeat diverged has no figure: the
// seeds that did not would tell of the lucky ones only.
std::vector<AccuracyRow> accuracy_rows(const RecordList& records);

Grid accuracy_grid(const Summary& summary);

}  // namespace harness
