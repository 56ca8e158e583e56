// What a row shows: the axis of the matrix on which it differs from its base.
#pragma once
#include <string>

#include "harness/contract/row.h"

namespace harness {

// The axis that a row moves on: the first on which it differs from its base, or, without one, from the
// plainest row.
std::string group_of(const Row& row, const Row* base);

}  // namespace harness
