// Reads configs/devices/NAME.yaml: how long an emulated accelerator takes for what, and where each figure is
// from.
#pragma once
#include <filesystem>
#include <string>

#include "harness/contract/emulated_device.h"
#include "harness/contract/row.h"

namespace harness {

inline const std::string kDefaultDeviceFile = "v100-article";  // of `--device emulated`

// configs/devices/NAME.yaml in the project's folder; a name that ends in .yaml is a path. Throws ConfigError,
// with the names that exist, for another name.
std::filesystem::path device_file(const std::filesystem::path& project, const std::string& name);

// Throws ConfigError with file and line for a missing or unknown key, a figure that is no number or outside
// the limits of its unit, and a provenance that is none.
EmulatedDevice read_device_file(const std::filesystem::path& file);

// The content of a device file, as read_device_file() reads it.
std::string device_file_text(const EmulatedDevice& device);

// Throws ConfigError with file and line when the device of that file has no times for the row's model or
// precision, or has those of a network of another size.
void require_times(const EmulatedDevice& device, const std::filesystem::path& file, const Row& row);

}  // namespace harness
