// unit: what GPUs' drivers told becomes metrics, a column that is there only with figures, and facts of the
// machine
#include <gtest/gtest.h>

#include "harness/report/grids.h"
#include "harness/report/metrics.h"
#include "harness/report/table.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace gpu_figures_test {

using nlohmann::json;

// Row 7 as if on two GPUs; the first tells everything, the second little.
std::vector<json> records_with_gpus() {
  std::vector<json> records = golden("matrix.jsonl");
  for (json& record : records)
    if (record["row"] == "7")
      record["gpu"] = {
          {{"rank", 0},
           {"samples", 3},
           {"energy_j", record["config"]["batch"].get<double>() * record["timed_batches"].get<double>() / 4},
           {"devices",
            {{{"uuid", "GPU-1"},
              {"figures",
               {{"numa_node", 1.0},
                {"pcie_generation", 5.0},
                {"pcie_width", 16.0},
                {"nvlinks", 18.0},
                {"ecc", 1.0},
                {"mig", 0.0},
                {"tensor_active", 0.5},
                {"sm_active", 0.9}}}},
             {{"uuid", "GPU-2"}, {"figures", {{"sm_active", 0.7}}}},
             json::object()}}}};
  return records;
}

std::string figure(const std::vector<json>& records, const std::string& row_id, const std::string& name) {
  const harness::Records typed_records = typed(records);
  const harness::Summary summary = harness::summarise(typed_records).at(0);
  for (const harness::SummaryRow& row : summary.rows)
    if (row.id == row_id) return csv_text(harness::metric(name), summary, row);
  return "no such row";
}

TEST(GpuFigures, AreMetricsOfTheRowsThatHaveThem) {
  const std::vector<json> records = records_with_gpus();
  EXPECT_EQ(figure(records, "7", "joules_per_image"), "0.25");
  EXPECT_EQ(figure(records, "7", "tensor_active"), "0.5");
  EXPECT_EQ(figure(records, "7", "sm_active"), "0.8") << "mean of the GPUs that tell";
  EXPECT_EQ(figure(records, "7", "dram_active"), "");
  EXPECT_EQ(figure(records, "0", "joules_per_image"), "");
  EXPECT_EQ(figure(records, "0", "tensor_active"), "");
}

TEST(GpuFigures, EnergyIsAColumnOnlyWhereItIsKnown) {
  const harness::Records with = typed(records_with_gpus()), without = typed(golden("matrix.jsonl"));
  EXPECT_SAYS(harness::console_table(harness::summarise(with).at(0)), "J/img");
  EXPECT_EQ(harness::console_table(harness::summarise(without).at(0)).find("J/img"), std::string::npos);
}

TEST(GpuFigures, EachGpuIsOneFactOfTheMachine) {
  std::vector<std::string> lines;
  for (const auto& [label, text] : harness::environment_facts(typed(records_with_gpus())))
    if (label == "GPU") lines.push_back(text);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "GPU", "GPU-1, NUMA node 1, PCIe 5 x16, 18 NVLinks, ecc on, mig off", "GPU-2"}));
}

}  // namespace gpu_figures_test
