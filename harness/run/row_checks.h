// Checks of rows that depend on launchers, emulated hardware and data.
#pragma once
#include <string>
#include <vector>

#include "harness/data/data.h"
#include "harness/plan/plan.h"

namespace harness {

// Why the request's launcher can't start the row's processes here; empty when it can.
std::string why_not_started(const Row& row, const AxisValues& values, const Request& request);

// Call when the data is prepared: skips cold rows that would read an image twice, and rows with `validation`
// without validation images; sets `classes` of the other rows with `validation` to that of the data.
void check_data(std::vector<PlannedRow>& plan, const DataSets& sets);

// Of rows with `validation`, what a plan can tell before the images of `data` (empty: stand-in) are listed.
// Throws PreparationError where listing them would.
void check_validation(std::vector<PlannedRow>& plan, const fs::path& data);

}  // namespace harness
