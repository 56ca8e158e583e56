// The device's own time of a record's phases, where the device runs behind the host.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace harness {

// Mean ms per batch over batches and ranks, of these phases together; none where the record has no such time.
std::optional<double> device_ms(const nlohmann::json& record, const std::vector<std::string>& phases);

}  // namespace harness
