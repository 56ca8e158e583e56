// unit: what a night says of GPUs: faults that the driver told, each once.
#include <gtest/gtest.h>

#include "harness/nightly/machine_health.h"
#include "harness/nightly/night.h"
#include "harness/nightly/night_summary.h"
#include "tests/support/typed_records.h"

namespace harness::gpu_health_test {

using nlohmann::json;

json gpu(const json& figures, const json& more = json::object()) {
  json it = {{"rank", 0}, {"samples", 10}, {"devices", {{{"uuid", "GPU-1"}, {"figures", figures}}}}};
  it.update(more);
  return it;
}

std::vector<std::string> faults_of(const json& gpu) {
  return gpu_faults(typed(std::vector<json>{{{"row", "0"}, {"gpu", {gpu}}}, {{"row", "1"}, {"gpu", {gpu}}}}));
}

TEST(GpuHealth, AHealthyGpuSaysNothing) {
  EXPECT_TRUE(faults_of(gpu({{"ecc_errors", 0},
                             {"pcie_generation", 5},
                             {"pcie_max_generation", 5},
                             {"remapped_rows", 2},
                             {"max_sm_clock_mhz", 1980}},
                            {{"sm_clock_mhz", {{"mean", 1900}, {"min", 1800}, {"max", 1980}}},
                             {"throttled_share", 0.02}}))
                  .empty());
  EXPECT_TRUE(gpu_faults(typed(std::vector<json>{{{"row", "0"}}})).empty()) << "there is none";
}

TEST(GpuHealth, EachFaultIsSaidOnce) {
  EXPECT_EQ(faults_of(gpu({{"ecc_errors", 3},
                           {"nvlink_errors", 6},
                           {"remapping_pending", 1},
                           {"pcie_width", 8},
                           {"pcie_max_width", 16}})),
            (std::vector<std::string>{"GPU-1: 3 uncorrected memory errors since the driver was loaded",
                                      "GPU-1: 6 errors of NVLinks since the driver was loaded",
                                      "GPU-1: rows of its memory are replaced at the next reset",
                                      "GPU-1: PCIe lanes 8 of 16 that GPU and slot can"}));
}

TEST(GpuHealth, ClocksAndThrottlingNameTheirRow) {
  const auto faults = faults_of(
      gpu({{"max_sm_clock_mhz", 1980}}, {{"sm_clock_mhz", {{"mean", 1410}, {"min", 1400}, {"max", 1420}}},
                                         {"throttled_share", 0.5},
                                         {"throttle_reasons", {"hw_thermal_slowdown"}}}));
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0], "GPU-1: its clock was 1410 of 1980 MHz in row 0");
  EXPECT_EQ(faults[1], "GPU-1: throttled in 50 % of the readings of row 0: hw_thermal_slowdown");
}

TEST(GpuHealth, ANightKeepsAndTellsThem) {
  const Night night = night_of(
      "n", typed(std::vector<json>{
               {{"row", "0"}, {"total_s", 1}, {"timed_batches", 2}, {"gpu", {gpu({{"ecc_errors", 1}})}}}}));
  EXPECT_EQ(night_from_json(encode(night)).gpu_faults.size(), 1u);
  EXPECT_NE(rows_summary(night, {}).find("GPU: GPU-1: 1 uncorrected memory errors"), std::string::npos);
}

TEST(GpuNight, ASkippedFirstRowHidesNoMachine) {
  const json ok = {{"row", "1"},
                   {"total_s", 1},
                   {"timed_batches", 2},
                   {"device", {{"kind", "cuda"}, {"name", "H200"}, {"driver", "570"}}}};
  const json skipped = {{"row", "0"}, {"status", "SKIPPED"}, {"device", {{"kind", "cuda"}}}};
  const Night night = night_of("n", typed(std::vector<json>{skipped, ok})),
              other = night_of("n", typed(std::vector<json>{ok}));
  EXPECT_EQ(night.machine, other.machine);
  EXPECT_EQ(night.environment, other.environment);
}

}  // namespace harness::gpu_health_test
