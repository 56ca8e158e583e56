// unit: what `explain` and `feed` change about a row's loading.
#include "harness/plan/loading_changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/registry/registry.h"
#include "tests/support/claim_records.h"

namespace harness::loading_changes_test {
namespace {

Row without_decoding(const Row& row) {
  const AxisValues values = bench::axis_values();
  ChangedRows changes(row, values);
  add_loading_changes(row, false, values, changes);
  return std::find_if(changes.all().begin(), changes.all().end(),
                      [](const ChangedRow& one) { return one.row.id == "no_decoding"; })
      ->row;
}

TEST(LoadingChanges, WithoutDecodingEmulatedCoresHaveNoRateOfDecoding) {
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
}  // namespace harness::loading_changes_test
