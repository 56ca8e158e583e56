// unit: how `explain` and `feed` change a row.
#include "harness/experiment/intervention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/registry/registry.h"
#include "tests/support/claim_records.h"

namespace harness::intervention_test {
namespace {

Row without_decoding(const Row& row) {
  const AxisValues values = bench::axis_values();
  const std::vector<ChangedRow> changes = changed_rows(row, {.values = values});
  return std::find_if(changes.begin(), changes.end(),
                      [](const ChangedRow& one) { return one.row.id == "no_decoding"; })
      ->row;
}

TEST(Intervention, WithoutDecodingEmulatedCoresHaveNoRateOfDecoding) {
  Row row = row_of(article("emulated").rows, "7");
  row.device = "emulated";
  row.device_file = "v100-article";
  EXPECT_NEAR(loader_images_per_s(row), 16 * 117.5 / row.time_scale, 1);
  EXPECT_EQ(without_decoding(row).storage, "raw");
  EXPECT_GT(loader_images_per_s(without_decoding(row)), 1e5);
  EXPECT_TRUE(emulates_cores(without_decoding(row))) << "loader threads still yield to the ranks";
  row.core_images_per_s = 0;
  EXPECT_EQ(without_decoding(row).core_images_per_s, 0) << "cores that aren't emulated";
}

}  // namespace
}  // namespace harness::intervention_test
