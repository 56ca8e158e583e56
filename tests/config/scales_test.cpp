// unit: the 27 rows of the article at every scale, and each figure that its text states
#include "harness/config/scales.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/config/config.h"
#include "tests/support/failure_of.h"

namespace scales_test {

using namespace harness;

const std::filesystem::path configs = std::filesystem::path(SOURCE_DIR) / "configs";

std::map<std::string, Row> article_at(const std::string& name) {
  std::map<std::string, Row> rows;
  auto scales = load_scales(configs / "scales.yaml");
  for (const Row& row : load_matrix(configs / "article.yaml", find_scale(scales, name)).rows)
    rows[row.id] = row;
  return rows;
}

TEST(Scales, EachSaysWhy) {
  auto scales = load_scales(configs / "scales.yaml");
  ASSERT_EQ(scales.size(), 6u);
  for (const Scale& scale : scales) {
    EXPECT_GT(scale.reasoning.size(), 50u) << scale.name;
    EXPECT_EQ(record_of(Row(), scale).c0, scale.c0);
  }
  EXPECT_SAYS(failure_of([&] { find_scale(scales, "articel"); }), "did you mean 'article'?");
  EXPECT_SAYS(failure_of([&] { find_scale(scales, "bogus"); }),
              "unknown scale; found 'bogus'; known: auto, article, rehearsal, emulated, smoke");
}

TEST(Scales, SizesOfTheArticle) {
  auto rows = article_at("article");
  EXPECT_EQ(rows["7"].batch, 512);
  EXPECT_EQ(rows["1"].batch, 256);
  EXPECT_EQ(rows["7"].image_px, 224);
  EXPECT_EQ(rows["7"].warmup_batches, 100);
  EXPECT_EQ(rows["10"].cpus, 48);
  EXPECT_EQ(rows["8"].loader_threads, 24);
  EXPECT_EQ(rows["17"].link_rate_mbit, 0);
  EXPECT_EQ(rows["16"].bucket_mib, 25);
}

TEST(Scales, SizesOfTheRehearsal) {
  auto rows = article_at("rehearsal");
  EXPECT_EQ(rows["7"].batch, 32);
  EXPECT_EQ(rows["1"].batch, 16);
  EXPECT_EQ(rows["7"].image_px, 64);
  EXPECT_EQ(rows["7"].width, 16);
  EXPECT_EQ(rows["7"].ring_depth, 8);
  EXPECT_EQ(rows["7"].warmup_batches, 30);
  EXPECT_EQ(rows["7"].timed_batches, 300);
  EXPECT_EQ(rows["8"].loader_threads, 6);
  EXPECT_EQ(rows["12"].loader_threads, 12);
  EXPECT_EQ(rows["11"].cpus, 16);
  EXPECT_EQ(rows["17"].link_rate_mbit, 200);
  EXPECT_EQ(rows["18"].link_rate_mbit, 0);
}

TEST(Scales, SmokeIsAHandfulOfBatches) {
  for (const auto& [id, row] : article_at("smoke"))
    EXPECT_LE(row.warmup_batches + row.timed_batches, 8) << id;
}

TEST(Scales, WindowFromTheFirstBatchHasNoWarmUp) {
  for (const char* scale : {"article", "rehearsal", "smoke"})
    for (const auto& [id, row] : article_at(scale))
      EXPECT_EQ(row.warmup_batches == 0, row.window == "0-299") << id;
}

TEST(Article, TwentySevenRowsKeepTheirIdentityAtEveryScale) {
  for (const char* scale : {"article", "rehearsal", "smoke"}) {
    auto rows = article_at(scale);
    EXPECT_EQ(rows.size(), 27u);
    for (int i = 0; i <= 18; ++i) EXPECT_EQ(rows.count(std::to_string(i)), 1u);
    EXPECT_EQ(rows["0"].batch, 2 * rows["1"].batch);
    for (const char* id : {"2", "3", "4"}) EXPECT_EQ(rows[id].batch, rows["1"].batch);
    for (const char* id : {"5", "6", "7", "10", "12", "16", "18"}) EXPECT_EQ(rows[id].batch, rows["0"].batch);
    EXPECT_EQ(rows["10"].loader_threads, 3 * rows["7"].loader_threads);
    EXPECT_EQ(rows["3"].devices, 3);
    EXPECT_EQ(rows["18"].nodes * rows["18"].devices, 8);
    EXPECT_EQ(rows["14"].strategy, "apex");
    EXPECT_TRUE(rows["14"].sync_bn && !rows["13"].sync_bn && !rows["15"].sync_bn);
    EXPECT_EQ(rows["15"].backend, "mpi");
    EXPECT_EQ(rows["12"].backend, rows["16"].backend);
    EXPECT_EQ(rows["16"].precision, "o2");
    EXPECT_EQ(rows["16"].strategy, "ddp");
    EXPECT_EQ(rows["lmdb"].order, "in_order");
    EXPECT_EQ(rows["lmdb-shuffled"].order, "shuffled");
    for (const char* id : {"disk", "disk-in-order", "lmdb", "lmdb-shuffled"})
      EXPECT_EQ(rows[id].cache, "cold");
  }
}

TEST(Article, FiguresThatTheTextStatesAndNoOthers) {
  std::map<std::string, double> stated = {{"disk", 336.524}, {"tmpfs", 87.989}, {"o2", 70.1},
                                          {"0", 161.0},      {"7", 81.7},       {"10", 60.2},
                                          {"12", 41.6},      {"16", 38.8},      {"18", 22.1}};
  for (const auto& [id, row] : article_at("article"))
    EXPECT_EQ(row.published_s, stated.count(id) ? stated[id] : 0) << id;
}

TEST(Article, BasesGiveTheArticlesRatios) {
  const std::map<std::string, std::set<std::string>> rows_by_base = {{"", {"disk", "0", "1"}},
                                                                     {"disk", {"disk-in-order", "tmpfs"}},
                                                                     {"disk-in-order", {"lmdb"}},
                                                                     {"lmdb", {"lmdb-shuffled"}},
                                                                     {"tmpfs", {"o1", "o2", "o3"}},
                                                                     {"1", {"2", "3", "4"}},
                                                                     {"0", {"5", "6", "7"}},
                                                                     {"7", {"8", "9", "10", "11"}},
                                                                     {"10", {"12"}},
                                                                     {"12", {"13", "14", "15", "16"}},
                                                                     {"16", {"17", "18"}}};
  auto rows = article_at("article");
  std::map<std::string, std::set<std::string>> found;
  for (const auto& [id, row] : rows) found[row.base].insert(id);
  EXPECT_EQ(found, rows_by_base);
  auto ratio = [&](const std::string& id) { return rows[rows[id].base].published_s / rows[id].published_s; };
  EXPECT_NEAR(ratio("tmpfs"), 3.82, 0.01);
  EXPECT_NEAR(ratio("o2"), 1.255, 0.001);
  EXPECT_NEAR(ratio("7"), 1.97, 0.01);
  EXPECT_NEAR(ratio("10"), 1.36, 0.01);
  EXPECT_NEAR(ratio("12"), 1.45, 0.01);
  EXPECT_NEAR(ratio("16"), 1.07, 0.01);
  EXPECT_NEAR(ratio("18"), 1.76, 0.01);
}

TEST(Article, SaysHowSureEachRowIs) {
  auto rows = article_at("article");
  std::set<std::string> stated = {
      "disk", "lmdb", "lmdb-shuffled", "tmpfs", "o1", "o2", "o3", "0", "7", "10", "12", "16", "18"};
  for (const auto& [id, row] : rows) {
    EXPECT_EQ(row.identity == "stated", stated.count(id) == 1) << id;
    const auto inferred = [&row](const char* field) {
      return ("," + row.inferred + ",").find("," + std::string(field) + ",") != std::string::npos;
    };
    for (const char* field : {"loader_threads", "cpus", "ring_depth"}) EXPECT_TRUE(inferred(field)) << id;
    // The window is stated for several devices under DataParallel alone.
    EXPECT_EQ(inferred("window"), !(row.strategy == "data_parallel" && id.size() == 1 && id[0] <= '7')) << id;
    EXPECT_EQ(inferred("cache"), row.cache == "cold") << id;
    EXPECT_EQ(inferred("backend"), row.strategy != "single" && row.strategy != "data_parallel") << id;
    EXPECT_EQ(inferred("order"), id == "disk") << id << ": of LMDB both orders are stated";
  }
  EXPECT_EQ(rows["3"].identity, "weakly inferred");
  EXPECT_EQ(rows["6"].identity, "weakly inferred");
  EXPECT_EQ(rows["disk-in-order"].identity, "control");
}

}  // namespace scales_test
