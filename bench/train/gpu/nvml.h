// NVML, the NVIDIA Management Library: clocks, load, power and temperature of a GPU, as shown by nvidia-smi.
// Loaded at run time, because it comes with the driver and a program linked with it would not start without
// one. No CUDA here.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/train/gpu/gpu_readings.h"

namespace bench {

class Nvml {
 public:
  struct Gpu;  // NVML's handle, valid for the lifetime of this object
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  // Throws std::runtime_error if the library can't be loaded or initialised.
  explicit Nvml(const std::string& library = kLibrary);
  ~Nvml();
  // Finds a GPU by its PCI bus id, e.g. 0000:01:00.0, because CUDA's device numbers (CUDA_VISIBLE_DEVICES)
  // differ from the driver's. Throws std::runtime_error if there is no such GPU.
  Gpu* find(const std::string& pci_bus_id) const;

  GpuReading read(Gpu* gpu) const;
  std::optional<double> energy_j(Gpu* gpu) const;  // since the driver was loaded; J
  // {"sm_clock_mhz": now, "max_sm_clock_mhz": ..., "memory_clock_mhz": ..., "max_memory_clock_mhz": ...};
  // unavailable values are absent.
  nlohmann::json clocks(Gpu* gpu) const;

 private:
  struct Functions;
  std::unique_ptr<void, int (*)(void*)> library_;
  std::unique_ptr<const Functions> functions_;
};

}  // namespace bench
