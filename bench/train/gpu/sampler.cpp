// Stores one reading per GPU and period in memory, and reads the GPUs' energy counters at start and end.
#include "bench/train/gpu/sampler.h"

#include <chrono>
#include <utility>

#include "bench/train/gpu/gpu_cores.h"

namespace bench {

using Clock = std::chrono::steady_clock;

CudaSampler::CudaSampler(const std::vector<std::string>& pci_bus_ids, double period_ms,
                         const std::string& library)
    : nvml_(library),
      pci_bus_ids_(pci_bus_ids),
      period_(std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double, std::milli>(period_ms))) {
  for (const std::string& id : pci_bus_ids) gpus_.push_back(nvml_.find(id));
}

void CudaSampler::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { sample(stop); });
}

GpuReadings CudaSampler::stop() {
  thread_.request_stop();
  thread_.join();
  return std::move(readings_);
}

// The first reading is taken one period after the start, because the GPU is idle before the window starts. If
// a reading takes longer than a period, the next follows immediately; missed ones are not caught up.
void CudaSampler::sample(const std::stop_token& stop) {
  const auto before = energy_j();
  const auto counters_now = [this] {
    std::vector<std::shared_ptr<void>> of_gpus;
    for (Nvml::Gpu* const gpu : gpus_) of_gpus.push_back(nvml_.counters_now(gpu));
    return of_gpus;
  };
  const auto counters_before = counters_now();
  Clock::time_point next = Clock::now() + period_;
  std::unique_lock lock(mutex_);
  while (wake_.wait_until(lock, stop, next, [] { return false; }), !stop.stop_requested()) {
    for (Nvml::Gpu* const gpu : gpus_) readings_.samples.push_back(nvml_.read(gpu));
    next = std::max(next + period_, Clock::now());
  }
  if (const auto after = energy_j(); before && after) readings_.energy_j = *after - *before;
  const auto counters_after = counters_now();
  for (size_t i = 0; i < gpus_.size(); ++i) {  // at once, because an idle GPU slows its PCIe link down
    harness::GpuFacts& facts = readings_.devices.emplace_back(nvml_.facts(gpus_[i]));
    nvml_.add_counters(counters_before[i].get(), counters_after[i].get(), facts);
    if (const auto node = numa_node_of(pci_bus_ids_[i])) facts.figures["numa_node"] = double(*node);
  }
}

std::optional<double> CudaSampler::energy_j() const {
  double sum = 0;
  for (Nvml::Gpu* const gpu : gpus_) {
    const auto joules = nvml_.energy_j(gpu);
    if (!joules) return std::nullopt;
    sum += *joules;
  }
  return sum;
}

}  // namespace bench
