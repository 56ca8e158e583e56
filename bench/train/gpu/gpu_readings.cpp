#include "bench/train/gpu/gpu_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace bench {

using nlohmann::json;

namespace {

// nvmlClocksEventReason... of nvml.h, whose numbers drivers keep.
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

json names_of(uint64_t reasons) {
  json names = json::array();
  for (const auto& [bit, name] : kClockReasons) {
    if (reasons & bit) names.push_back(name);
    reasons &= ~bit;
  }
  if (reasons) names.push_back(fmt::format("{:#x}", reasons));  // younger than this table
  return names;
}

void add_spread(json& summary, const char* key, const std::vector<GpuReading>& samples,
                std::optional<double> GpuReading::*figure) {
  double sum = 0, least = 0, most = 0;
  int64_t known = 0;
  for (const GpuReading& sample : samples) {
    if (!(sample.*figure)) continue;
    const double value = *(sample.*figure);
    sum += value;
    least = known ? std::min(least, value) : value;
    most = known ? std::max(most, value) : value;
    ++known;
  }
  if (known) summary[key] = {{"mean", rounded(sum / double(known))}, {"min", least}, {"max", most}};
}

void add_throttling(json& summary, const std::vector<GpuReading>& samples) {
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
  summary["throttled_share"] = rounded(double(throttled) / double(known));
  summary["throttle_reasons"] = names_of(seen);
}

}  // namespace

json summary(const GpuReadings& readings, int64_t images) {
  json summary = {{"samples", readings.samples.size()}};
  add_spread(summary, "utilisation_percent", readings.samples, &GpuReading::utilisation_percent);
  add_spread(summary, "memory_utilisation_percent", readings.samples,
             &GpuReading::memory_utilisation_percent);
  add_spread(summary, "sm_clock_mhz", readings.samples, &GpuReading::sm_clock_mhz);
  add_spread(summary, "memory_clock_mhz", readings.samples, &GpuReading::memory_clock_mhz);
  add_spread(summary, "power_w", readings.samples, &GpuReading::power_w);
  add_spread(summary, "temperature_c", readings.samples, &GpuReading::temperature_c);
  add_throttling(summary, readings.samples);
  if (readings.energy_j) {
    summary["energy_j"] = rounded(*readings.energy_j);
    if (images > 0) summary["joules_per_image"] = *readings.energy_j / double(images);
  }
  return summary;
}

}  // namespace bench
