// unit: the real link that an emulated one stands for, from records with known figures
#include <gtest/gtest.h>

#include "harness/report/summary/communication.h"
#include "harness/report/summary/summary.h"
#include "tests/support/article_rows.h"
#include "tests/support/typed_records.h"

namespace harness::link_equivalent_test {

using nlohmann::json;

json record_of_17() {
  const Row row = row_of(article().rows, "17");
  return {{"schema", 1},
          {"row", "17"},
          {"status", "OK"},
          {"world_size", 8},
          {"timed_batches", 2},
          {"config", to_json(row)},
          {"scale", {{"name", "rehearsal"}, {"batch_divisor", 16}}},
          {"device", {{"kind", "cpu"}}},
          {"samples_ms", {{"sync", json(8, {4.0, 6.0})}}},
          {"total_s", 1},
          {"emulated", {"nodes: 2 network namespaces of one machine", "link: ethernet: veth at 200 Mbit/s"}},
          {"ceilings", {{"batches", 20}, {"compute", {{"forward", 6.0}, {"backward", 23.0}}}}},
          {"communication", {{"all_reduces", {{{"bytes", 1'669'930}, {"type", "bfloat16"}}}}}}};
}

TEST(LinkEquivalent, HasTheSameRatioOfAllReduceToComputing) {
  const Record record = typed(record_of_17());
  // A fourteenth of the article's bytes; 29 ms against 64 images of 231.8 / 256 ms, 0.797 of it in 16 bits.
  const double there_ms = 64 * 231.8 / 256 * 70.1 / 87.989;
  const double mbit = real_link_mbit(record).value();
  EXPECT_NEAR(mbit, 200 * 14 * 29 / there_ms, 2);
  const double here = record.communication->all_reduces[0].bytes * 8 / 200e6 / 29e-3;
  const double there = 2 * 11'689'512 * 8 / (mbit * 1e6) / (there_ms * 1e-3);
  EXPECT_NEAR(here, there, 1e-9);
}

TEST(LinkEquivalent, FollowsTheMachinesSpeedAndTheRate) {
  json record = record_of_17();
  const double before = real_link_mbit(typed(record)).value();
  record["ceilings"]["compute"] = {{"forward", 3.0}, {"backward", 11.5}};
  EXPECT_NEAR(real_link_mbit(typed(record)).value(), before / 2, 1e-6) << "a faster processor needs more";
  record["config"]["link_rate_mbit"] = 400;
  EXPECT_NEAR(real_link_mbit(typed(record)).value(), before, 1e-6);
}

TEST(LinkEquivalent, IsNotKnownWithoutItsFigures) {
  const auto without = [](const char* pointer, const json& value) {
    json record = record_of_17();
    record[json::json_pointer(pointer)] = value;
    return real_link_mbit(typed(record));
  };
  EXPECT_TRUE(without("/row", "17"));
  EXPECT_FALSE(without("/config/link_rate_mbit", 0)) << "unshaped";
  EXPECT_FALSE(without("/emulated", json::array())) << "a real link stands for itself";
  EXPECT_FALSE(without("/device/kind", "emulated"));
  EXPECT_FALSE(without("/config/model", "resnet50"));
  EXPECT_FALSE(without("/communication/all_reduces", json::array()));
  json old = record_of_17();
  old.erase("ceilings");
  EXPECT_FALSE(real_link_mbit(typed(old)));
}

TEST(LinkEquivalent, IsNamedForEachShapedRow) {
  const Records records = typed(std::vector<json>{record_of_17()});
  const auto texts = link_equivalents(summarise(records).at(0));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("17: the link of 200 Mbit/s stands for one of about 1.8 Gbit/s"), std::string::npos)
      << texts[0];
}

TEST(LinkEquivalent, TheRowsOfLinksYamlStandForTheirNames) {
  const Matrix links = load_matrix(std::filesystem::path(SOURCE_DIR) / "configs/links.yaml",
                                   find_scale(scales(), "rehearsal"), values());
  for (const auto& [id, gbit] :
       {std::pair("1gbit", 1.0), {"10gbit", 10.0}, {"25gbit", 25.0}, {"100gbit", 100.0}}) {
    json record = record_of_17();
    record["config"] = to_json(row_of(links.rows, id));
    record["ceilings"]["compute"] = {{"forward", 6.04}, {"backward", 23.06}};  // 29.1 ms, as links.yaml says
    EXPECT_NEAR(real_link_mbit(typed(record)).value(), 1e3 * gbit, 10 * gbit) << id;
  }
}

}  // namespace harness::link_equivalent_test
