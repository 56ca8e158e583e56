// unit: the real rows that stand for rows on emulated devices: every row of every shipped matrix has one that
// is valid, small and trains alike; equal work is known as such.
#include <gtest/gtest.h>

#include <set>

#include "harness/run/real_training.h"
#include "tests/support/article_rows.h"

namespace harness::real_twin_test {

const Scale& smallest() { return find_scale(scales(), "smoke"); }
const Scale& emulated() { return find_scale(scales(), "emulated"); }

Row on_emulated_device(Row row) {
  row.device = "emulated";
  row.device_file = "v100-article";
  row.loss_every = 10;
  return row;
}

Row steps_of(const Row& row) {
  return real_twin(row, RealWork::steps, emulated(), smallest(), false, values());
}
Row slice_of(const Row& row, bool keeps_storage = false) {
  return real_twin(row, RealWork::slice, emulated(), smallest(), keeps_storage, values());
}

TEST(RealTwin, TrainsAsTheArticlesRowDoes) {
  const Matrix matrix = article("emulated"), at_smoke = article("smoke");
  ASSERT_EQ(matrix.rows.size(), 27u);
  for (size_t i = 0; i < matrix.rows.size(); ++i) {
    const Row row = on_emulated_device(matrix.rows[i]), twin = steps_of(row), slice = slice_of(row);
    for (const char* field : {"strategy", "precision", "optimizer", "devices", "nodes", "link", "sync_bn",
                              "backend", "momentum", "accumulation", "classes"})
      for (const Row& one : {twin, slice})
        EXPECT_EQ(field_text(one, field), field_text(row, field)) << row.id;
    for (const Row& one : {twin, slice}) {
      EXPECT_EQ(one.device, "cpu");
      EXPECT_EQ(one.device_file, "");
      EXPECT_EQ(one.time_scale, 1);
      EXPECT_EQ(one.read_rate, 0);
      EXPECT_EQ(one.image_px, 32);
      EXPECT_EQ(one.width, 8);
      EXPECT_EQ(one.ceiling_batches, 0);
      EXPECT_EQ(one.loss_every, 1) << "it acts on no processor";
      EXPECT_EQ(one.cache, "as_is");
      EXPECT_EQ(one.link_rate_mbit, row.link == "ethernet" ? 200 : 0) << row.id;
      EXPECT_NO_THROW(check_combination(one, {one.id}, values())) << one.id;
    }
    EXPECT_EQ(twin.batch, 8 * all_devices(row));
    EXPECT_EQ(twin.storage, "synthetic");
    EXPECT_EQ(twin.ring_depth, 1) << "every batch is the same";
    EXPECT_EQ(slice.batch, at_smoke.rows[i].batch) << row.id;
    EXPECT_EQ(slice.timed_batches, 300);
    EXPECT_EQ(slice.learning_rate, row.learning_rate);
  }
}

TEST(RealTwin, WhatIsEqualIsKnown) {
  std::map<std::string, std::set<std::string>> rows_of;
  std::set<std::string> slices;
  const Matrix matrix = article("emulated");
  for (const Row& row : matrix.rows) {
    rows_of[work_of(steps_of(on_emulated_device(row)))].insert(row.id);
    slices.insert(work_of(slice_of(on_emulated_device(row))));
  }
  std::set<std::set<std::string>> groups;
  for (const auto& [work, rows] : rows_of) groups.insert(rows);
  EXPECT_EQ(groups, (std::set<std::set<std::string>>{
                        {"disk", "disk-in-order", "lmdb", "lmdb-shuffled", "tmpfs", "0", "1"},
                        {"o1"},
                        {"o2"},
                        {"o3"},
                        {"2", "5"},
                        {"3", "6"},
                        {"4", "7", "8", "9", "10", "11"},
                        {"12"},
                        {"13"},
                        {"14"},
                        {"15"},
                        {"16"},
                        {"17"},
                        {"18"}}));
  EXPECT_LT(slices.size(), 20u) << "7 to 11 differ in threads alone";
}

TEST(RealTwin, ASliceKeepsTheStorageThatItsRowIsAbout) {
  for (const Row& row : article("emulated").rows) {
    if (row.id != "lmdb") continue;
    EXPECT_EQ(slice_of(row, true).storage, "lmdb");
    EXPECT_EQ(slice_of(row, true).order, "in_order");
    EXPECT_EQ(slice_of(row, false).storage, "raw");
    EXPECT_EQ(slice_of(row, false).order, "shuffled");
  }
}

TEST(RealTwin, EveryShippedMatrixHasValidOnes) {
  AxisValues known = values();
  for (const char* axis : {"storage", "model"}) known.erase(axis);  // the files name more than the tests know
  int rows = 0;
  for (const char* name : {"dp_vs_ddp", "scaling_guide", "links", "transfer"}) {
    const auto file = std::filesystem::path(SOURCE_DIR) / "configs" / (std::string(name) + ".yaml");
    for (const Row& row : load_matrix(file, emulated(), known).rows)
      for (const Row& twin : {steps_of(on_emulated_device(row)), slice_of(on_emulated_device(row))}) {
        const int64_t parts = row.accumulation * row.pipeline_micro_batches;
        EXPECT_NO_THROW(check_combination(twin, {twin.id}, known)) << name << " " << twin.id;
        if (twin.storage == "synthetic") {
          EXPECT_GE(twin.batch / all_devices(row) / parts, 2) << name << " " << twin.id;
        }
        EXPECT_EQ(twin.learning_rate_warmup, 0) << name << " " << twin.id;
        EXPECT_FALSE(twin.retain_graph) << name << " " << twin.id;
        ++rows;
      }
  }
  EXPECT_GT(rows, 40);
}

}  // namespace harness::real_twin_test
