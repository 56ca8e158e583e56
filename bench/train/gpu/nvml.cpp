#include "bench/train/gpu/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace bench {

// Declared here instead of including nvml.h, so that readings don't depend on the build; drivers keep the ABI
// of these versioned names. Signatures of CUDA 13.0; all return 0 for success.
struct Nvml::Functions {
  struct Utilisation {
    unsigned gpu, memory;
  };
  int (*nvmlInit_v2)();
  int (*nvmlShutdown)();
  const char* (*nvmlErrorString)(int);
  int (*nvmlDeviceGetHandleByPciBusId_v2)(const char*, Gpu**);
  int (*nvmlDeviceGetUtilizationRates)(Gpu*, Utilisation*);
  int (*nvmlDeviceGetClockInfo)(Gpu*, int clock, unsigned* mhz);
  int (*nvmlDeviceGetMaxClockInfo)(Gpu*, int clock, unsigned* mhz);
  int (*nvmlDeviceGetPowerUsage)(Gpu*, unsigned* milliwatts);
  int (*nvmlDeviceGetTemperature)(Gpu*, int sensor, unsigned* celsius);
  int (*nvmlDeviceGetCurrentClocksEventReasons)(Gpu*, unsigned long long* bits);
  // The name of nvmlDeviceGetCurrentClocksEventReasons before driver 535.
  int (*nvmlDeviceGetCurrentClocksThrottleReasons)(Gpu*, unsigned long long* bits);
  int (*nvmlDeviceGetTotalEnergyConsumption)(Gpu*, unsigned long long* millijoules);
};

namespace {

constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
constexpr int kDieSensor = 0;                  // nvmlTemperatureSensors_t

// Calls an NVML function; empty if the driver lacks the function or the GPU doesn't provide the value.
template <class Value, class Function, class... Arguments>
std::optional<Value> told(Function* function, Arguments... arguments) {
  Value value{};
  if (!function || function(arguments..., &value) != 0) return std::nullopt;
  return value;
}

std::optional<double> times(double factor, std::optional<unsigned long long> value) {
  if (!value) return std::nullopt;
  return double(*value) * factor;
}

}  // namespace

Nvml::Nvml(const std::string& library)
    : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose) {
  if (!library_)
    throw std::runtime_error(fmt::format("{}: install the libraries of the NVIDIA driver", ::dlerror()));
  const auto function = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(::dlsym(library_.get(), name));
  };
  Functions found{};
#define FIND(name) function(found.name, #name)
  FIND(nvmlInit_v2);
  FIND(nvmlShutdown);
  FIND(nvmlErrorString);
  FIND(nvmlDeviceGetHandleByPciBusId_v2);
  FIND(nvmlDeviceGetUtilizationRates);
  FIND(nvmlDeviceGetClockInfo);
  FIND(nvmlDeviceGetMaxClockInfo);
  FIND(nvmlDeviceGetPowerUsage);
  FIND(nvmlDeviceGetTemperature);
  FIND(nvmlDeviceGetCurrentClocksEventReasons);
  FIND(nvmlDeviceGetCurrentClocksThrottleReasons);
  FIND(nvmlDeviceGetTotalEnergyConsumption);
#undef FIND
  if (!found.nvmlInit_v2 || !found.nvmlShutdown || !found.nvmlErrorString ||
      !found.nvmlDeviceGetHandleByPciBusId_v2)
    throw std::runtime_error(fmt::format(
        "{} is not NVML: functions that every NVIDIA driver since 2013 has are missing", library));
  if (const int error = found.nvmlInit_v2(); error != 0)
    throw std::runtime_error(
        fmt::format("{}: {}: check with nvidia-smi", library, found.nvmlErrorString(error)));
  functions_ = std::make_unique<const Functions>(found);
}

Nvml::~Nvml() { functions_->nvmlShutdown(); }

Nvml::Gpu* Nvml::find(const std::string& pci_bus_id) const {
  Gpu* gpu = nullptr;
  if (const int error = functions_->nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id.c_str(), &gpu); error != 0)
    throw std::runtime_error(
        fmt::format("GPU {}: {}: check with nvidia-smi", pci_bus_id, functions_->nvmlErrorString(error)));
  return gpu;
}

GpuReading Nvml::read(Gpu* gpu) const {
  const Functions& ask = *functions_;
  GpuReading reading;
  if (const auto share = told<Functions::Utilisation>(ask.nvmlDeviceGetUtilizationRates, gpu)) {
    reading.utilisation_percent = share->gpu;
    reading.memory_utilisation_percent = share->memory;
  }
  reading.sm_clock_mhz = told<unsigned>(ask.nvmlDeviceGetClockInfo, gpu, kSmClock);
  reading.memory_clock_mhz = told<unsigned>(ask.nvmlDeviceGetClockInfo, gpu, kMemoryClock);
  reading.power_w = times(1e-3, told<unsigned>(ask.nvmlDeviceGetPowerUsage, gpu));
  reading.temperature_c = told<unsigned>(ask.nvmlDeviceGetTemperature, gpu, kDieSensor);
  reading.clock_reasons = told<unsigned long long>(ask.nvmlDeviceGetCurrentClocksEventReasons, gpu);
  if (!reading.clock_reasons)
    reading.clock_reasons = told<unsigned long long>(ask.nvmlDeviceGetCurrentClocksThrottleReasons, gpu);
  return reading;
}

std::optional<double> Nvml::energy_j(Gpu* gpu) const {
  return times(1e-3, told<unsigned long long>(functions_->nvmlDeviceGetTotalEnergyConsumption, gpu));
}

nlohmann::json Nvml::clocks(Gpu* gpu) const {
  nlohmann::json clocks = nlohmann::json::object();
  const auto add = [&](const char* key, auto* function, int clock) {
    if (const auto mhz = told<unsigned>(function, gpu, clock)) clocks[key] = *mhz;
  };
  add("sm_clock_mhz", functions_->nvmlDeviceGetClockInfo, kSmClock);
  add("max_sm_clock_mhz", functions_->nvmlDeviceGetMaxClockInfo, kSmClock);
  add("memory_clock_mhz", functions_->nvmlDeviceGetClockInfo, kMemoryClock);
  add("max_memory_clock_mhz", functions_->nvmlDeviceGetMaxClockInfo, kMemoryClock);
  return clocks;
}

}  // namespace bench
