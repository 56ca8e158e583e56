// Finds NVML's functions with dlsym(); a value that the driver doesn't provide stays empty.
#include "bench/train/gpu/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>

namespace bench {
namespace {

// Functions are called by name instead of including nvml.h, so that readings don't depend on the build;
// drivers keep the ABI of these names. Types and numbers are those of CUDA 13.0; all functions return 0 for
// success.
constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
constexpr int kDieSensor = 0;                  // nvmlTemperatureSensors_t
constexpr unsigned kMostLinks = 18;            // NVML_NVLINK_MAX_LINKS
constexpr int kUncorrected = 1;                // nvmlMemoryErrorType_t
constexpr int kSinceReset = 0;                 // nvmlEccCounterType_t: since the driver was loaded
constexpr int kLinkErrors[] = {0, 1, 2,
                               3};  // nvmlNvLinkErrorCounter_t: replays, recoveries, CRC of flits and data

struct Utilisation {
  unsigned gpu, memory;
};

struct CounterRequest {  // nvmlGpmMetricsGet_t
  unsigned version = 1, count = 0;
  void *before, *after;
  struct {
    unsigned id;
    int error;
    double value;
    const char* names[3];
  } metrics[333];
};

struct Counter {
  unsigned id;  // nvmlGpmMetricId_t
  const char* name;
  double unit;  // NVML's % or MiB/s
};
constexpr double kPercent = 1e-2, kMibPerS = 1.048576e-3;
constexpr std::array kCounters = {Counter{2, "sm_active", kPercent},
                                  Counter{3, "sm_occupancy", kPercent},
                                  Counter{5, "tensor_active", kPercent},
                                  Counter{10, "dram_active", kPercent},
                                  Counter{20, "pcie_sent_gb_per_s", kMibPerS},
                                  Counter{21, "pcie_received_gb_per_s", kMibPerS},
                                  Counter{60, "nvlink_received_gb_per_s", kMibPerS},
                                  Counter{61, "nvlink_sent_gb_per_s", kMibPerS}};

std::optional<double> times(double factor, std::optional<unsigned long long> value) {
  return value ? std::optional(double(*value) * factor) : std::nullopt;
}

template <class Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

template <class... Arguments>
bool Nvml::succeeds(const char* function, Arguments... arguments) const {
  const auto call = function_of<int(Arguments...)>(library_.get(), function);
  return call && call(arguments...) == 0;
}

template <class Value, class... Arguments>
std::optional<Value> Nvml::told(const char* function, Arguments... arguments) const {
  Value value{};
  return succeeds(function, arguments..., &value) ? std::optional(value) : std::nullopt;
}

std::optional<unsigned> Nvml::mode(const char* function, Gpu* gpu) const {
  unsigned now = 0, after_reset = 0;
  return succeeds(function, gpu, &now, &after_reset) ? std::optional(now) : std::nullopt;
}

std::string Nvml::why(int error) const {
  const auto text = function_of<const char*(int)>(library_.get(), "nvmlErrorString");
  return fmt::format("{}: check with nvidia-smi", text ? text(error) : "unknown error");
}

Nvml::Nvml(const std::string& library)
    : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), ::dlclose) {
  if (!library_)
    throw std::runtime_error(fmt::format("{}: install the libraries of the NVIDIA driver", ::dlerror()));
  const auto init = function_of<int()>(library_.get(), "nvmlInit_v2");
  if (!init)
    throw std::runtime_error(fmt::format(
        "{} is not NVML: functions that every NVIDIA driver since 2013 has are missing", library));
  if (const int error = init(); error != 0) throw std::runtime_error(library + ": " + why(error));
}

Nvml::~Nvml() { succeeds("nvmlShutdown"); }

Nvml::Gpu* Nvml::find(const std::string& pci_bus_id) const {
  const auto handle =
      function_of<int(const char*, Gpu**)>(library_.get(), "nvmlDeviceGetHandleByPciBusId_v2");
  Gpu* gpu = nullptr;
  if (const int error = handle ? handle(pci_bus_id.c_str(), &gpu) : -1; error != 0)
    throw std::runtime_error(fmt::format("GPU {}: {}", pci_bus_id, why(error)));
  return gpu;
}

GpuReading Nvml::read(Gpu* gpu) const {
  GpuReading reading;
  if (const auto share = told<Utilisation>("nvmlDeviceGetUtilizationRates", gpu)) {
    reading.utilisation_percent = share->gpu;
    reading.memory_utilisation_percent = share->memory;
  }
  reading.sm_clock_mhz = told<unsigned>("nvmlDeviceGetClockInfo", gpu, kSmClock);
  reading.memory_clock_mhz = told<unsigned>("nvmlDeviceGetClockInfo", gpu, kMemoryClock);
  reading.power_w = times(1e-3, told<unsigned>("nvmlDeviceGetPowerUsage", gpu));
  reading.temperature_c = told<unsigned>("nvmlDeviceGetTemperature", gpu, kDieSensor);
  for (const char* name :  // the second before driver 535
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"})
    if (!reading.clock_reasons) reading.clock_reasons = told<unsigned long long>(name, gpu);
  return reading;
}

harness::GpuFacts Nvml::facts(Gpu* gpu) const {
  harness::GpuFacts facts;
  std::array<char, 96> text{};
  const unsigned size = text.size();
  if (succeeds("nvmlDeviceGetUUID", gpu, text.data(), size)) facts.uuid = text.data();
  if (succeeds("nvmlSystemGetDriverVersion", text.data(), size)) facts.driver = text.data();
  const auto add = [&](const char* name, std::optional<unsigned long long> value) {
    if (value) facts.figures[name] += double(*value);
  };
  add("pcie_generation", told<unsigned>("nvmlDeviceGetCurrPcieLinkGeneration", gpu));
  add("pcie_width", told<unsigned>("nvmlDeviceGetCurrPcieLinkWidth", gpu));
  add("pcie_max_generation", told<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", gpu));
  add("pcie_max_width", told<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", gpu));
  for (unsigned link = 0; link < kMostLinks; ++link)
    add("nvlinks", told<unsigned>("nvmlDeviceGetNvLinkState", gpu, link));
  add("max_sm_clock_mhz", told<unsigned>("nvmlDeviceGetMaxClockInfo", gpu, kSmClock));
  add("max_memory_clock_mhz", told<unsigned>("nvmlDeviceGetMaxClockInfo", gpu, kMemoryClock));
  add("ecc", mode("nvmlDeviceGetEccMode", gpu));
  add("mig", mode("nvmlDeviceGetMigMode", gpu));
  add("persistence", told<unsigned>("nvmlDeviceGetPersistenceMode", gpu));
  add("ecc_errors", told<unsigned long long>("nvmlDeviceGetTotalEccErrors", gpu, kUncorrected, kSinceReset));
  for (unsigned link = 0; link < kMostLinks; ++link)
    for (const int error : kLinkErrors)
      add("nvlink_errors", told<unsigned long long>("nvmlDeviceGetNvLinkErrorCounter", gpu, link, error));
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;  // from Ampere on
  if (succeeds("nvmlDeviceGetRemappedRows", gpu, &corrected, &uncorrected, &pending, &failed)) {
    add("remapped_rows", corrected + uncorrected);
    add("remapping_pending", pending);
    add("remapping_failed", failed);
  }
  add("retired_pages_pending",
      told<unsigned>("nvmlDeviceGetRetiredPagesPendingStatus", gpu));  // before Ampere
  return facts;
}

std::optional<double> Nvml::energy_j(Gpu* gpu) const {
  if (mode("nvmlDeviceGetMigMode", gpu).value_or(0) != 0) return std::nullopt;
  return times(1e-3, told<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", gpu));
}

std::shared_ptr<void> Nvml::counters_now(Gpu* gpu) const {
  unsigned support[2] = {1, 0};  // nvmlGpmSupport_t: version, whether it is supported
  void* sample = nullptr;
  if (!succeeds("nvmlGpmQueryDeviceSupport", gpu, &support[0]) || support[1] == 0 ||
      !succeeds("nvmlGpmSampleAlloc", &sample))
    return nullptr;
  std::shared_ptr<void> owned(sample, [this](void* it) { succeeds("nvmlGpmSampleFree", it); });
  return succeeds("nvmlGpmSampleGet", gpu, sample) ? owned : nullptr;
}

void Nvml::add_counters(void* before, void* after, harness::GpuFacts& facts) const {
  CounterRequest request{.count = kCounters.size(), .before = before, .after = after, .metrics = {}};
  for (size_t i = 0; i < kCounters.size(); ++i) request.metrics[i].id = kCounters[i].id;
  if (!before || !after || !succeeds("nvmlGpmMetricsGet", &request)) return;
  for (size_t i = 0; i < kCounters.size(); ++i)
    if (const auto& metric = request.metrics[i]; metric.error == 0 && std::isfinite(metric.value))
      facts.figures[kCounters[i].name] = metric.value * kCounters[i].unit;
}

}  // namespace bench
