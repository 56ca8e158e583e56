// unit: the thread that reads GPUs, and the driver's library loaded at run time: whole, refusing, absent
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "bench/train/gpu/sampler.h"
#include "tests/support/failure_of.h"

namespace bench::gpu_sampler_test {

using nlohmann::json;

const char* const kTelling = "0000:01:00.0";
const char* const kRefusing = "0000:02:00.0";

TEST(Nvml, ReadsWhatTheGpuTells) {
  const Nvml nvml(FAKE_NVML);
  const GpuReading reading = nvml.read(nvml.find(kTelling));
  EXPECT_EQ(reading.utilisation_percent, 90);
  EXPECT_EQ(reading.memory_utilisation_percent, 20);
  EXPECT_EQ(reading.sm_clock_mhz, 1410);
  EXPECT_EQ(reading.memory_clock_mhz, 1215);
  EXPECT_EQ(reading.power_w, 250.5);
  EXPECT_EQ(reading.temperature_c, 55);
  EXPECT_EQ(reading.clock_reasons, 4u) << "with the function name of older drivers";
  EXPECT_EQ(nvml.clocks(nvml.find(kTelling)),
            json({{"sm_clock_mhz", 1410}, {"max_sm_clock_mhz", 1980}, {"memory_clock_mhz", 1215}}));
}

TEST(Nvml, WhatAGpuRefusesIsNoNumber) {
  const Nvml nvml(FAKE_NVML);
  Nvml::Gpu* const gpu = nvml.find(kRefusing);
  const GpuReading reading = nvml.read(gpu);
  EXPECT_FALSE(reading.utilisation_percent || reading.memory_utilisation_percent || reading.sm_clock_mhz ||
               reading.memory_clock_mhz || reading.power_w || reading.temperature_c || reading.clock_reasons);
  EXPECT_FALSE(nvml.energy_j(gpu));
  EXPECT_EQ(nvml.clocks(gpu), json::object());
}

TEST(Nvml, SaysWhyItCantBeAsked) {
  const std::string absent = failure_of([] { Nvml("libnot-there.so.1"); });
  EXPECT_NE(absent.find("libnot-there.so.1"), std::string::npos) << absent;
  const std::string foreign = failure_of([] { Nvml("libc.so.6"); });
  EXPECT_NE(foreign.find("not NVML"), std::string::npos) << foreign;
  const std::string unknown = failure_of([] { Nvml(FAKE_NVML).find("0000:07:00.0"); });
  EXPECT_NE(unknown.find("0000:07:00.0: Not Found"), std::string::npos) << unknown;
  ::setenv("FAKE_NVML_BROKEN", "1", 1);
  const std::string broken = failure_of([] { Nvml nvml(FAKE_NVML); });
  ::unsetenv("FAKE_NVML_BROKEN");
  EXPECT_NE(broken.find("Driver Not Loaded"), std::string::npos) << broken;
}

GpuReadings readings_of(const std::vector<std::string>& gpus, double period_ms, int ms) {
  CudaSampler sampler(gpus, period_ms, FAKE_NVML);
  sampler.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return sampler.stop();
}

TEST(GpuSampler, ReadsEverySoOften) {
  const GpuReadings readings = readings_of({kTelling}, 5, 200);
  EXPECT_GE(readings.samples.size(), 4u);
  EXPECT_LE(readings.samples.size(), 41u) << "not more often than asked";
  EXPECT_EQ(readings.energy_j, 2.5) << "one query at each end";
  for (const GpuReading& sample : readings.samples) EXPECT_EQ(sample.power_w, 250.5);
}

TEST(GpuSampler, EndsAtOnceWhateverThePeriod) {
  const auto before = std::chrono::steady_clock::now();
  const GpuReadings readings = readings_of({kTelling}, 60000, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
  EXPECT_TRUE(readings.samples.empty());
  EXPECT_TRUE(readings.energy_j);
}

TEST(GpuSampler, EnergyOfSeveralGpusNeedsAllOfThem) {
  const GpuReadings readings = readings_of({kTelling, kRefusing}, 5, 50);
  EXPECT_FALSE(readings.energy_j);
  EXPECT_EQ(readings.samples.size() % 2, 0u);
  EXPECT_EQ(summary(readings, 10).utilisation_percent.has_value(), !readings.samples.empty());
}

TEST(GpuSampler, EndsWithItsOwnerIfNotStopped) {
  CudaSampler never_started({kTelling}, 5, FAKE_NVML);
  CudaSampler sampler({kTelling}, 5, FAKE_NVML);
  sampler.start();
}

}  // namespace bench::gpu_sampler_test
