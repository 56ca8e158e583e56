// NVML, the NVIDIA Management Library: what a GPU is, its clocks, load, power and counters, as shown by
// nvidia-smi. Loaded at run time, because it comes with the driver and a program linked with it would not
// start without one. No CUDA here.
#pragma once
#include <memory>
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
  harness::GpuFacts facts(Gpu* gpu) const;  // without NUMA node and counters
  // Since the driver was loaded; J. None where the GPU is divided (MIG): it counts what others use, too.
  std::optional<double> energy_j(Gpu* gpu) const;
  // The performance counters (GPM, from Hopper on) as they are now; null without any.
  std::shared_ptr<void> counters_now(Gpu* gpu) const;
  // Adds their means between two such samples, which may be null.
  void add_counters(void* before, void* after, harness::GpuFacts& facts) const;

 private:
  // Calls a function; false if the driver lacks it or it returns an error.
  template <class... Arguments>
  bool succeeds(const char* function, Arguments... arguments) const;
  // The value that a function writes to its last argument.
  template <class Value, class... Arguments>
  std::optional<Value> told(const char* function, Arguments... arguments) const;
  std::optional<unsigned> mode(const char* function, Gpu* gpu) const;
  std::string why(int error) const;

  std::unique_ptr<void, int (*)(void*)> library_;
};

}  // namespace bench
