// The axis of the matrix on which a row differs from its base.
#pragma once
#include <string>

#include "harness/contract/row.h"

namespace harness {

// The first axis on which a row differs from its base; without a base, or without a difference, the axis on
// which it differs from the simplest row.
std::string group_of(const Row& row, const Row* base);

}  // namespace harness
