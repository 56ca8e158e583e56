// train: Rows with each allocator, from outside: the rank uses it, and the record names its version.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/launch/rank_program.h"
#include "tests/support/temporary_folder.h"

namespace allocator_row_test {

class AllocatorRow : public testing::TestWithParam<std::string> {};

TEST_P(AllocatorRow, NamesItsVersion) {
  harness::Row row;
  row.malloc = GetParam();
  const std::string missing = harness::why_no_allocator(row);
  const TemporaryFolder folder;
  base::Command command;
  command.arguments = {BINARY_DIR "/run_matrix", "--scale", "smoke", "--only", "0", "--device", "cpu"};
  for (const std::string& setting :
       {"malloc=" + row.malloc, std::string("storage=synthetic"), std::string("ceiling_batches=0")})
    command.arguments.insert(command.arguments.end(), {"--set", setting});
  command.arguments.insert(command.arguments.end(), {"--out", folder / "run"});
  command.environment["RUN_MATRIX_PLOTS"] = "specs";
  command.errors_to_output = true;
  const base::Finished finished = base::run_to_end(command);

  std::ifstream stream(folder / "run/records.jsonl");
  const auto record = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(record.is_object()) << finished.output;
  if (!missing.empty()) {
    EXPECT_EQ(record["status"], "SKIPPED");
    EXPECT_EQ(record["reason"], missing);
    GTEST_SKIP() << missing;
  }
  EXPECT_EQ(record["status"], "OK") << record["reason"];
  EXPECT_FALSE(record["versions"].value(row.malloc, "").empty()) << record["versions"];
}

INSTANTIATE_TEST_SUITE_P(Libraries, AllocatorRow, testing::Values("jemalloc", "tcmalloc"),
                         [](const auto& info) { return info.param; });

}  // namespace allocator_row_test
