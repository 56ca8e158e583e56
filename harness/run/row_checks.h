// What may keep a row from running that only launchers, emulated hardware and data can tell.
#pragma once
#include <string>
#include <vector>

#include "harness/data/data.h"
#include "harness/plan/plan.h"

namespace harness {

// Why the request's launcher can't start the row's processes here; empty when it can.
std::string why_not_started(const Row& row, const AxisValues& values, const Request& request);

// After the data is there: skips cold rows that would read an image twice and rows that lack images to
// validate on, and gives the others of these as many classes as their data has.
void check_data(std::vector<PlannedRow>& plan, const DataSets& sets);

}  // namespace harness
