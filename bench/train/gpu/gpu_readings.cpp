// Computes mean, minimum and maximum of each reading, and names the reasons for lower clocks.
#include "bench/train/gpu/gpu_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

namespace bench {

namespace {

// Values of nvmlClocksEventReason... in nvml.h, which are stable across drivers.
constexpr uint64_t kIdle = 0x1;
struct ClockReason {
  uint64_t bit;
  std::string_view name;
};
constexpr std::array kClockReasons = {ClockReason{0x2, "applications_clocks_setting"},
                                      ClockReason{0x4, "sw_power_cap"},
                                      ClockReason{0x8, "hw_slowdown"},
                                      ClockReason{0x10, "sync_boost"},
                                      ClockReason{0x20, "sw_thermal_slowdown"},
                                      ClockReason{0x40, "hw_thermal_slowdown"},
                                      ClockReason{0x80, "hw_power_brake_slowdown"},
                                      ClockReason{0x100, "display_clock_setting"}};

double rounded(double value) { return std::round(value * 1e3) / 1e3; }

std::vector<std::string> names_of(uint64_t reasons) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kClockReasons) {
    if (reasons & bit) names.emplace_back(name);
    reasons &= ~bit;
  }
  if (reasons) names.push_back(fmt::format("{:#x}", reasons));  // newer than this table
  return names;
}

std::optional<harness::Spread> spread_of(const std::vector<GpuReading>& samples,
                                         std::optional<double> GpuReading::*figure) {
  std::vector<double> known;
  for (const GpuReading& sample : samples)
    if (sample.*figure) known.push_back(*(sample.*figure));
  if (known.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(known);
  return harness::Spread{rounded(std::accumulate(known.begin(), known.end(), 0.0) / double(known.size())),
                         least, most};
}

void add_throttling(harness::RankGpu& summary, const std::vector<GpuReading>& samples) {
  int64_t known = 0, throttled = 0;
  uint64_t seen = 0;
  for (const GpuReading& sample : samples) {
    if (!sample.clock_reasons) continue;
    const uint64_t reasons = *sample.clock_reasons & ~kIdle;
    ++known;
    throttled += reasons != 0;
    seen |= reasons;
  }
  if (!known) return;
  summary.throttled_share = rounded(double(throttled) / double(known));
  summary.throttle_reasons = names_of(seen);
}

}  // namespace

harness::RankGpu summary(const GpuReadings& readings, int64_t images) {
  const std::vector<GpuReading>& samples = readings.samples;
  harness::RankGpu summary;
  summary.samples = int64_t(samples.size());
  summary.utilisation_percent = spread_of(samples, &GpuReading::utilisation_percent);
  summary.memory_utilisation_percent = spread_of(samples, &GpuReading::memory_utilisation_percent);
  summary.sm_clock_mhz = spread_of(samples, &GpuReading::sm_clock_mhz);
  summary.memory_clock_mhz = spread_of(samples, &GpuReading::memory_clock_mhz);
  summary.power_w = spread_of(samples, &GpuReading::power_w);
  summary.temperature_c = spread_of(samples, &GpuReading::temperature_c);
  add_throttling(summary, samples);
  summary.devices = readings.devices;
  if (!readings.energy_j) return summary;
  summary.energy_j = rounded(*readings.energy_j);
  if (images > 0) summary.joules_per_image = *readings.energy_j / double(images);
  return summary;
}

}  // namespace bench
