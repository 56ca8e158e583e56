// The name of a data set's content.
#pragma once
#include <string>

#include "bench/formats/index.h"

namespace bench {

// 16 hex digits over every path and size, and the content of up to 64 evenly spaced files.
std::string fingerprint_of(const Dataset& dataset);

}  // namespace bench
