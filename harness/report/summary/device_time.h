// Device time of a record's phases, on devices that run asynchronously to the host.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// Sum over these phases of the mean ms per batch and rank; nullopt if there are no samples of them.
std::optional<double> mean_ms(const Samples& samples, const std::vector<std::string>& phases);
// The same of the device's times.
std::optional<double> device_ms(const Record& record, const std::vector<std::string>& phases);

}  // namespace harness
