// unit: the thread that reads GPUs, and the driver's library loaded at run time: whole, refusing, absent
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "bench/train/gpu/sampler.h"
#include "tests/support/failure_of.h"

namespace bench::gpu_sampler_test {

using nlohmann::json;

const char* const kTelling = "0000:01:00.0";
const char* const kRefusing = "0000:02:00.0";
const char* const kDivided = "0000:03:00.0";
const char* const kFailing = "0000:04:00.0";

GpuReadings readings_of(const std::vector<std::string>& gpus, double period_ms, int ms) {
  CudaSampler sampler(gpus, period_ms, FAKE_NVML);
  sampler.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return sampler.stop();
}

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
  const json facts = harness::encode(nvml.facts(nvml.find(kTelling)));
  EXPECT_EQ(facts, json::parse(R"({"uuid": "GPU-1", "driver": "580.1", "figures": {
      "pcie_generation": 4.0, "pcie_width": 8.0, "pcie_max_generation": 5.0, "pcie_max_width": 16.0, "nvlinks": 5.0,
      "max_sm_clock_mhz": 1980.0, "ecc": 1.0, "mig": 0.0, "persistence": 1.0,
      "ecc_errors": 3.0, "nvlink_errors": 6.0, "remapped_rows": 3.0, "remapping_pending": 1.0,
      "remapping_failed": 0.0}})"));
}

TEST(Nvml, AnOldDriverLacksFunctions) {
  const Nvml nvml(FAKE_OLD_NVML);
  Nvml::Gpu* const gpu = nvml.find(kTelling);
  harness::GpuFacts facts = nvml.facts(gpu);
  EXPECT_EQ(facts.uuid, "GPU-1");
  for (const char* name : {"nvlinks", "mig", "nvlink_errors", "remapped_rows"})
    EXPECT_FALSE(facts.figure(name)) << name;
  EXPECT_EQ(facts.figure("ecc"), 1.0);
  EXPECT_FALSE(nvml.counters_now(gpu));
  const auto before = facts.figures;
  nvml.add_counters(nullptr, nullptr, facts);
  EXPECT_EQ(facts.figures, before);
  EXPECT_TRUE(nvml.energy_j(gpu)) << "whether it is divided isn't known";
}

// The bus id is that of the whole GPU, and so are power and energy.
TEST(Nvml, ADividedGpuLacksWhatBelongsToOthers) {
  const Nvml nvml(FAKE_NVML);
  Nvml::Gpu* const gpu = nvml.find(kDivided);
  EXPECT_FALSE(nvml.read(gpu).utilisation_percent);
  EXPECT_FALSE(nvml.energy_j(gpu));
  EXPECT_FALSE(nvml.counters_now(gpu));
  EXPECT_EQ(nvml.facts(gpu).figure("mig"), 1.0);
  EXPECT_FALSE(nvml.facts(gpu).figure("nvlinks"));
}

TEST(Nvml, CountersAreSharesAndRates) {
  const Nvml nvml(FAKE_NVML);
  Nvml::Gpu* const gpu = nvml.find(kTelling);
  const auto before = nvml.counters_now(gpu), after = nvml.counters_now(gpu);
  harness::GpuFacts facts;
  nvml.add_counters(before.get(), before.get(), facts);
  nvml.add_counters(before.get(), nullptr, facts);
  EXPECT_TRUE(facts.figures.empty()) << "errors";
  nvml.add_counters(before.get(), after.get(), facts);
  EXPECT_EQ(facts.figures.size(), 8u);
  EXPECT_DOUBLE_EQ(*facts.figure("tensor_active"), 0.05);
  EXPECT_DOUBLE_EQ(*facts.figure("dram_active"), 0.10);
  EXPECT_DOUBLE_EQ(*facts.figure("pcie_sent_gb_per_s"), 20 * 1024 * 1024 / 1e9);
  EXPECT_DOUBLE_EQ(*facts.figure("nvlink_sent_gb_per_s"), 61 * 1024 * 1024 / 1e9);
}

TEST(Nvml, ACounterThatFailsIsNoNumber) {
  const GpuReadings readings = readings_of({kFailing}, 60000, 1);
  const harness::GpuFacts& facts = readings.devices.at(0);
  for (const char* name : {"sm_active", "sm_occupancy"}) EXPECT_FALSE(facts.figure(name)) << name;
  EXPECT_TRUE(facts.figure("tensor_active"));
}

TEST(Nvml, WhatAGpuRefusesIsNoNumber) {
  const Nvml nvml(FAKE_NVML);
  Nvml::Gpu* const gpu = nvml.find(kRefusing);
  const GpuReading reading = nvml.read(gpu);
  EXPECT_FALSE(reading.utilisation_percent || reading.memory_utilisation_percent || reading.sm_clock_mhz ||
               reading.memory_clock_mhz || reading.power_w || reading.temperature_c || reading.clock_reasons);
  EXPECT_FALSE(nvml.energy_j(gpu));
  EXPECT_EQ(harness::encode(nvml.facts(gpu)), json({{"driver", "580.1"}}));
  EXPECT_FALSE(nvml.counters_now(gpu));
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

// GPUs that CUDA_VISIBLE_DEVICES hides are not asked, because GPUs are found by what CUDA tells of its own.
TEST(GpuSampler, DescribesEachGpuAndGivesItsSamplesBack) {
  const GpuReadings readings = readings_of({kTelling, kRefusing, kDivided}, 5, 20);
  ASSERT_EQ(readings.devices.size(), 3u);
  EXPECT_EQ(readings.devices[0].uuid, "GPU-1");
  EXPECT_DOUBLE_EQ(readings.devices[0].figure("sm_active").value(), 0.02);
  EXPECT_EQ(readings.devices[1].uuid, "");
  EXPECT_FALSE(readings.devices[1].figure("sm_active"));
  EXPECT_EQ(readings.devices[2].uuid, "GPU-3");
  EXPECT_EQ(harness::encode(summary(readings, 10))["devices"][0]["uuid"], "GPU-1");
  void* const library = ::dlopen(FAKE_NVML, RTLD_NOW);
  EXPECT_EQ(reinterpret_cast<int (*)()>(::dlsym(library, "fakeNvmlSamples"))(), 0);
  ::dlclose(library);
}

TEST(GpuSampler, EndsWithItsOwnerIfNotStopped) {
  CudaSampler never_started({kTelling}, 5, FAKE_NVML);
  CudaSampler sampler({kTelling}, 5, FAKE_NVML);
  sampler.start();
}

}  // namespace bench::gpu_sampler_test
