// The emulated cascade beside the article's figures and the closed-form model's.
#pragma once
#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// The article's rows on emulated devices, in its seconds: which of its figures the device file was calibrated
// on, how far it predicts the other rows, and why not further. Empty without such rows. A row that is not OK
// has its status instead of a number.
Grid emulated_grid(const Summary& summary);

}  // namespace harness
