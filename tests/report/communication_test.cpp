// unit: what a report says of the ranks' communication, from records with known figures.
#include "harness/report/summary/communication.h"

#include <gtest/gtest.h>

#include "harness/report/summary/summary.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::communication_test {

using nlohmann::json;

json record_of_two_ranks() {
  return {{"status", "OK"},
          {"world_size", 2},
          {"timed_batches", 2},
          {"config", {{"backend", "mpi"}, {"link", "ethernet"}}},
          {"samples_ms", {{"sync", {{4.0, 6.0}, {2.0, 4.8}}}}},
          {"spans_ms", {{"communication", {{10.0, 12.0}, {10.0, 12.0}}}}},
          {"communication",
           {{"all_reduced_bytes", 4000000},
            {"all_reduces",
             {{{"bytes", 1500000}, {"type", "float32"}}, {{"bytes", 500000}, {"type", "float32"}}}},
            {"ceiling_ms", 8.5}}},
          {"link",
           {{"nodes",
             {{{"node", 0},
               {"sent_bytes", 2040},
               {"expected_sent_bytes", 2000},
               {"received_bytes", 2000},
               {"expected_received_bytes", 2000}}}}}}};
}

TEST(Communication, IsPerBatchAndTypicalOverRanks) {
  const auto it = communication_of(typed(record_of_two_ranks()));
  ASSERT_TRUE(it);
  EXPECT_DOUBLE_EQ(it->all_reduced_bytes, 2e6);
  EXPECT_EQ(it->messages, (std::vector<int64_t>{1500000, 500000}));
  EXPECT_DOUBLE_EQ(it->under_way_ms, 11);
  EXPECT_DOUBLE_EQ(it->exposed_ms, 4.2) << "the mean, which is not the median";
  EXPECT_DOUBLE_EQ(it->alone_ms, 8.5);
  EXPECT_DOUBLE_EQ(it->link_share.value(), 1.02);
  EXPECT_TRUE(it->sync_bn.empty());
}

TEST(Communication, SyncBatchNormLayersAreInTheirOrderAndCountAsExposed) {
  json record = record_of_two_ranks();
  record["spans_ms"]["sync_bn/layer1.0.bn1"] = {{1.0, 1.0}, {1.0, 1.0}};
  record["spans_ms"]["sync_bn/bn1"] = {{3.0, 3.0}, {3.0, 3.0}};
  record["spans_ms"]["sync_bn_backward"] = {{2.0, 2.0}, {2.0, 2.0}};
  const auto it = communication_of(typed(record));
  ASSERT_EQ(it->sync_bn.size(), 2u);
  EXPECT_EQ(it->sync_bn[0].name, "bn1");
  EXPECT_DOUBLE_EQ(it->sync_bn[0].wait_ms, 3);
  EXPECT_DOUBLE_EQ(it->sync_bn_backward_ms, 2);
  EXPECT_DOUBLE_EQ(it->exposed_ms, 4.2 + 3 + 1 + 2);
}

TEST(Communication, ABlockingBroadcastIsExposed) {
  json record = record_of_two_ranks();
  record["samples_ms"]["broadcast"] = {{1.0, 3.0}, {2.0, 2.0}};
  EXPECT_DOUBLE_EQ(communication_of(typed(record))->exposed_ms, 4.2 + 2);
}

TEST(Communication, OnAGpuWhatTheDeviceWaitsIsExposed) {
  json record = record_of_two_ranks();
  record["device_ms"]["sync"] = {{7.0, 9.0}, {7.0, 9.0}};
  record["spans_ms"]["sync_bn/bn1"] = {{3.0, 3.0}, {3.0, 3.0}};  // there only what starting it took
  EXPECT_DOUBLE_EQ(communication_of(typed(record))->exposed_ms, 8);
}

TEST(Communication, ARowWithoutFiguresOrRanksHasNone) {
  json record = record_of_two_ranks();
  record["status"] = "INVALID";
  EXPECT_FALSE(communication_of(typed(record)));
  record["status"] = "OK";
  record.erase("communication");
  EXPECT_FALSE(communication_of(typed(record)));
}

TEST(Communication, TextAndMarkdownSayTheSame) {
  Summary summary;
  const Record record = typed(record_of_two_ranks());
  SummaryRow row;
  row.id = "17";
  row.status = "OK";
  row.config = record.config;
  row.record = &record;
  row.communication = communication_of(record);
  summary.rows = {row};
  const Grid grid = communication_grid(summary);
  for (const std::string& text : {console_text(grid), markdown_text(grid)})
    for (const char* cell :
         {"17", "ethernet", "2.00 MB", "11.0", "8.5", "4.2", "62 %", "1.02", "1.50 MB, 500 KB"})
      EXPECT_SAYS(text, cell);
  summary.rows[0].communication.reset();
  EXPECT_EQ(console_text(communication_grid(summary)), "");
}

}  // namespace harness::communication_test
