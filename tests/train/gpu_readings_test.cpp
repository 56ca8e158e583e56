// unit: GPU readings become the record's key gpu: means, shares, names; missing readings have no key
#include "bench/train/gpu/gpu_readings.h"

#include <gtest/gtest.h>

namespace bench::gpu_readings_test {

using nlohmann::json;

GpuReading reading(double utilisation, double watts, uint64_t reasons) {
  GpuReading reading;
  reading.utilisation_percent = utilisation;
  reading.power_w = watts;
  reading.clock_reasons = reasons;
  return reading;
}

json record_of(const GpuReadings& readings, int64_t images) {
  json record = harness::encode(summary(readings, images));
  record.erase("rank");  // added when the ranks are merged
  return record;
}

TEST(GpuReadings, BecomeMeanAndRange) {
  const GpuReadings readings{{reading(90, 300.5, 0), reading(30, 200, 0), reading(0, 100, 1)}, 1200.0};
  const json record = record_of(readings, 400);
  EXPECT_EQ(record["samples"], 3);
  EXPECT_EQ(record["utilisation_percent"], json({{"mean", 40.0}, {"min", 0.0}, {"max", 90.0}}));
  EXPECT_EQ(record["power_w"], json({{"mean", 200.167}, {"min", 100.0}, {"max", 300.5}}));
  EXPECT_EQ(record["energy_j"], 1200.0);
  EXPECT_EQ(record["joules_per_image"], 3.0);
}

TEST(GpuReadings, ThatWereNotToldHaveNoKey) {
  GpuReading temperature;
  temperature.temperature_c = 61;
  const json record = record_of({{GpuReading(), temperature}, std::nullopt}, 400);
  EXPECT_EQ(record,
            json({{"samples", 2}, {"temperature_c", {{"mean", 61.0}, {"min", 61.0}, {"max", 61.0}}}}));
  EXPECT_EQ(record_of({{}, std::nullopt}, 400), json({{"samples", 0}}));
}

TEST(GpuReadings, EnergyOfNoImagesIsNoneOfAnImage) {
  const json record = record_of({{}, 5.0}, 0);
  EXPECT_EQ(record["energy_j"], 5.0);
  EXPECT_FALSE(record.contains("joules_per_image"));
}

TEST(GpuReadings, AnIdleGpuIsNotThrottled) {
  const json record = record_of({{reading(0, 0, 0x1), reading(9, 9, 0), GpuReading()}, {}}, 1);
  EXPECT_EQ(record["throttled_share"], 0.0);
  EXPECT_EQ(record["throttle_reasons"], json::array());
}

TEST(GpuReadings, ReasonsAreNamedAndCountedOnce) {
  const json record = record_of(
      {{reading(9, 9, 0x4 | 0x1), reading(9, 9, 0x4 | 0x20), reading(9, 9, 0x4000), reading(9, 9, 0)}, {}},
      1);
  EXPECT_EQ(record["throttled_share"], 0.75);
  EXPECT_EQ(record["throttle_reasons"], json({"sw_power_cap", "sw_thermal_slowdown", "0x4000"}));
}

}  // namespace bench::gpu_readings_test
