// Accuracy by precision: the results of the rows with `validation`, over their seeds.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

bool is_of_accuracy(const Record& record);  // whether its row has `validation`

// One per row, in the order in which rows first occur. If a repeat diverged, the row has no figure, because
// the other seeds alone would be a biased sample.
std::vector<AccuracyRow> accuracy_rows(const RecordList& records);

Grid accuracy_grid(const Summary& summary, const std::string& title = "accuracy by precision");

}  // namespace harness
