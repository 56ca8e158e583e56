// train: Rows with each allocator, from outside: the rank uses it, and the record names its version.
#include "harness/launch/rank_program.h"
#include "tests/support/real_rows.h"

namespace harness::allocator_row_test {

class AllocatorRow : public RealRows, public testing::WithParamInterface<std::string> {};

TEST_P(AllocatorRow, NamesItsVersion) {
  Row row;
  row.malloc = GetParam();
  const std::string missing = why_no_allocator(row);
  run({"--only", "0", "--device", "cpu", "--set", "malloc=" + row.malloc, "--set", "storage=synthetic",
       "--set", "ceiling_batches=0", "--out", folder / "run"});
  const auto found = rows();
  ASSERT_EQ(found.size(), 1u) << said;
  const Record& record = found.at("0");
  if (!missing.empty()) {
    EXPECT_EQ(record.status, "SKIPPED");
    EXPECT_EQ(record.reason, missing);
    GTEST_SKIP() << missing;
  }
  EXPECT_EQ(record.status, "OK") << record.reason;
  EXPECT_FALSE(version_of(record, row.malloc).empty());
}

INSTANTIATE_TEST_SUITE_P(Libraries, AllocatorRow, testing::Values("jemalloc", "tcmalloc"),
                         [](const auto& info) { return info.param; });

}  // namespace harness::allocator_row_test
