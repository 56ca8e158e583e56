// Reads configs/devices/NAME.yaml: how long an emulated accelerator takes for what, and where each figure is
// from.
#pragma once
#include <filesystem>
#include <string>

#include "harness/contract/emulated_device.h"

namespace harness {

inline const std::string kDefaultDeviceFile = "v100-article";  // of `--device emulated`

// configs/devices/NAME.yaml in the project's folder. Throws ConfigError, with the names that exist, for
// another name.
std::filesystem::path device_file(const std::filesystem::path& project, const std::string& name);

// Throws ConfigError with file and line for a missing or unknown key, a figure that is no number, negative,
// or zero where it divides, and a provenance that is none.
EmulatedDevice read_device_file(const std::filesystem::path& file);

}  // namespace harness
