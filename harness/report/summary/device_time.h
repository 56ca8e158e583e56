// The device's own time of a record's phases, where the device runs behind the host.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// Mean ms per batch over batches and ranks, of these phases together; none where the record has no such time.
std::optional<double> device_ms(const Record& record, const std::vector<std::string>& phases);

}  // namespace harness
