// unit: the closed-form model of rows on emulated devices, against examples worked out by hand
#include "harness/stats/closed_model.h"

#include <gtest/gtest.h>

#include "tests/support/emulated_records.h"

namespace harness::closed_model_test {

using emulated_records::emulated;
using nlohmann::json;

double model_s(const json& record) {
  const auto model = closed_model(typed(record));
  return model ? model->step_ms() * kArticleBatches / 1000 : 0;
}

TEST(ClosedModel, IsTheSumOfWhatTheDeviceFileSays) {
  // 512 images: copy 27.29 ms, forward and backward 507.63, optimizer 1.8.
  EXPECT_NEAR(model_s(emulated("0", 1)), 161.0, 0.05);
  // Each device computes 128: copy 27.29, computing 126.91, optimizer 1.8, scatter 51.41, broadcast and
  // reduce 10.89.
  EXPECT_NEAR(model_s(emulated("10", 1)), 65.49, 0.05);
  // Each rank copies 128: 6.83, computing 126.91, optimizer 1.8, and the last bucket's all-reduce 2.80.
  EXPECT_NEAR(model_s(emulated("12", 1)), 41.50, 0.05);
}

TEST(ClosedModel, TheLongerOfLoadingAndTheDeviceCounts) {
  json record = emulated("10", 1);
  record["ceilings"]["loader_ms"] = 100.0;  // 400 ms of the article's batch
  EXPECT_NEAR(model_s(record), 120, 1e-9);
  record["ceilings"].erase("loader_ms");
  EXPECT_FALSE(closed_model(typed(record))->load_ms);
  EXPECT_NEAR(model_s(record), 65.49, 0.05);
}

TEST(ClosedModel, FollowsTheSettingsThatItDescribes) {
  json record = emulated("12", 1);
  const double plain = model_s(record);
  record["config"]["delay_allreduce"] = true;  // nothing is hidden: 46.8 MB x 1.5 / 8.6 GB/s, three latencies
  EXPECT_NEAR(model_s(record) - plain, 0.3 * (8.155 + 3 * 0.0342 - 2.80), 0.01);
  record = emulated("12", 1);
  record["config"]["sync_bn"] = true;
  json& messages = record["communication"]["all_reduces"];
  for (const int channels : {512, 256, 128, 64})  // in backward, before the buckets that they are ready with
    for (int layer = 0; layer < 5; ++layer)
      messages.insert(messages.begin() + 1, json{{"bytes", 8 * channels}, {"type", "float32"}});
  EXPECT_NEAR(model_s(record) - plain, 0.3 * 40 * 6 * 0.0057, 1e-9);
  record = emulated("0", 1);
  record["config"]["pinned"] = false;
  EXPECT_NEAR(model_s(record) - model_s(emulated("0", 1)), 0.3 * 308.281 * (1 / 6.0 - 1 / 11.3), 0.01);
}

TEST(ClosedModel, SaysNothingOfRowsThatItDoesNotDescribe) {
  for (const auto& [pointer, value] :
       std::vector<std::pair<const char*, json>>{{"/config/nodes", 2},
                                                 {"/config/width", 16},
                                                 {"/config/prefetch", true},
                                                 {"/config/model", "resnet50"},
                                                 {"/config/devices", 0},
                                                 {"/config/precision", "bf16"}}) {
    json record = emulated("10", 1);
    record[json::json_pointer(pointer)] = value;
    EXPECT_FALSE(closed_model(typed(record))) << pointer;
  }
  json record = emulated("10", 1);
  record.erase("emulation");
  EXPECT_FALSE(closed_model(typed(record)));
}

}  // namespace harness::closed_model_test
