// The emulated cascade beside the article's, and the comparison with the rows that the device file doesn't
// know.
#pragma once
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// The cascade in the article's seconds; then, for rows of a device file that was calibrated on the article,
// what it was calibrated on and how far it predicts the other rows. Empty without emulated rows of the
// article. A row that is not OK has its status instead of a number.
std::vector<Grid> emulated_tables(const Summary& summary);

}  // namespace harness
