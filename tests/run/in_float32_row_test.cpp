// net: rows in 16 bit on a processor without instructions for it: trained and checked, their messages in 16
// bit, marked.
#include "tests/support/real_rows.h"

namespace harness::in_float32_row_test {

using InFloat32Rows = RealRows;

TEST_F(InFloat32Rows, AreTrainedWithSixteenBitMessagesAndMarked) {
  environment = {{"ATEN_CPU_CAPABILITY", "avx2"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"}};
  ASSERT_EQ(run({"--device", "cpu", "--only", "o1,o3,12,16", "--set", "storage=synthetic", "--set",
                 "ceiling_batches=0", "--out", folder / "run"}),
            0)
      << said;
  auto rows = RealRows::rows();
  ASSERT_EQ(rows.size(), 4u) << said;

  EXPECT_EQ(rows["o1"].precision.label, "O1 in bf16, computed in float32");
  for (const char* id : {"o1", "o3", "16"}) {
    EXPECT_EQ(rows[id].precision.sixteen_bit, "bfloat16") << id;
    EXPECT_EQ(rows[id].precision.computed_in, "float32") << id;
    ASSERT_FALSE(rows[id].notes.empty()) << id;
    EXPECT_SAYS(rows[id].notes.back(), "computed in float32 and rounded") << id;
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
