// net: rows in 16 bit on a processor without instructions for it: trained and checked, their messages in 16
// bit, marked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "harness/base/child_process.h"
#include "harness/stats/records.h"
#include "tests/support/temporary_folder.h"

namespace harness::in_float32_row_test {

TEST(InFloat32Rows, AreTrainedWithSixteenBitMessagesAndMarked) {
  const TemporaryFolder folder;
  base::Command command;
  command.arguments = {BINARY_DIR "/run_matrix",
                       "--device",
                       "cpu",
                       "--scale",
                       "smoke",
                       "--only",
                       "o1,o3,12,16",
                       "--set",
                       "storage=synthetic",
                       "--set",
                       "ceiling_batches=0",
                       "--out",
                       folder / "run"};
  command.environment = {
      {"RUN_MATRIX_PLOTS", "specs"}, {"ATEN_CPU_CAPABILITY", "avx2"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"}};
  command.errors_to_output = true;
  const base::Finished finished = base::run_to_end(command);
  ASSERT_EQ(finished.exit_code, 0) << finished.output;
  std::ostringstream warnings;
  std::map<std::string, Record> rows;
  for (Record& record : read_records(folder / "run", warnings)) rows[record.row] = record;
  ASSERT_EQ(rows.size(), 4u) << finished.output;

  EXPECT_EQ(rows["o1"].precision.label, "O1 in bf16, computed in float32");
  for (const char* id : {"o1", "o3", "16"}) {
    EXPECT_EQ(rows[id].precision.sixteen_bit, "bfloat16") << id;
    EXPECT_EQ(rows[id].precision.computed_in, "float32") << id;
    ASSERT_FALSE(rows[id].notes.empty()) << id;
    EXPECT_NE(rows[id].notes.back().find("computed in float32 and rounded"), std::string::npos) << id;
  }
  EXPECT_EQ(rows["12"].precision.computed_in, "");
  EXPECT_EQ(rows["12"].precision.label, "O0");

  bool compared = false;
  for (const RecordCheck& check : rows["16"].checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    compared = compared || check.detail.find("relative error") != std::string::npos;
  }
  EXPECT_TRUE(compared) << "with the gradients of one device";
  // All but batch norm's.
  const double share = double(rows["16"].communication.value().all_reduced_bytes.value()) /
                       double(rows["12"].communication.value().all_reduced_bytes.value());
  EXPECT_GT(share, 0.5);
  EXPECT_LT(share, 0.55);
}

}  // namespace harness::in_float32_row_test
