// Which rows on emulated devices trained for real on this machine's processor, as their records say.
#pragma once
#include <string>

#include "harness/report/summary/summary.h"

namespace harness {

// `yes`, after a whole slice its first and last loss: `7.06 to 2.72`; `no`; empty where nothing was trained
// for this, as on devices that compute.
std::string trained_text(const SummaryRow& row);

// How many of the rows trained, and which did not, as one sentence; empty without rows on emulated devices,
// and in records from before they trained.
std::string trained_sentence(const Summary& summary);

}  // namespace harness
