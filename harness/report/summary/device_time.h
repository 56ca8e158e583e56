// Device time of a record's phases, on devices that run asynchronously to the host.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// Sum over these phases of the mean ms per batch and rank; nullopt if the record has no device time for them.
std::optional<double> device_ms(const Record& record, const std::vector<std::string>& phases);

}  // namespace harness
