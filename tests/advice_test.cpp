// unit: what a run says first: the remedy with the largest measured gain, its worth, and how far to trust it
#include "harness/report/summary/advice.h"

#include <gtest/gtest.h>

#include "harness/report/table.h"
#include "tests/typed_records.h"

namespace harness::advice_test {

using nlohmann::json;

json run(const std::string& row, double seconds, const json& config, int repeat = 0) {
  json record = {{"row", row},
                 {"repeat", repeat},
                 {"total_s", seconds * (1 + 0.001 * repeat)},
                 {"timed_batches", 60},
                 {"config", {{"batch", 32}, {"loader_threads", 2}, {"storage", "folder"}}},
                 {"environment", {{"window_steal_share", 0.0}, {"window_outside_share", 0.0}}}};
  record["config"].update(config);
  return record;
}

// Five runs each of a disk, of files in memory (twice as fast), of another row with the same work, and of
// more threads (a tenth faster).
std::vector<json> quiet(int repeats = 5) {
  std::vector<json> records;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    records.push_back(run("disk", 20, json::object(), repeat));
    records.push_back(run("tmpfs", 10, {{"base", "disk"}, {"storage", "tmpfs"}}, repeat));
    records.push_back(run("1", 10.3, {{"storage", "tmpfs"}, {"window", "100-399"}}, repeat));
    records.push_back(
        run("threads", 9, {{"base", "tmpfs"}, {"storage", "tmpfs"}, {"loader_threads", 4}}, repeat));
  }
  return records;
}

void set(std::vector<json>& records, const std::string& row, const char* pointer, const json& value) {
  for (json& record : records)
    if (record["row"] == row) record[json::json_pointer(pointer)] = value;
}

std::string sentence(const std::vector<json>& records, const std::string& label) {
  const std::vector<Summary> summaries = summarise(typed(records));
  for (const auto& [name, text] : advice_facts(summaries.at(0)))
    if (name == label) return text;
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(Advice, NamesTheLargestMeasuredGainAndItsInterval) {
  EXPECT_EQ(sentence(quiet(), "Fix next"), "storage folder -> tmpfs (row tmpfs instead of disk)");
  const std::string worth = sentence(quiet(), "Worth");
  EXPECT_TRUE(contains(worth, "2.00 (1.99 to 2.01) times as fast over 5 runs of each")) << worth;
  const std::string once = sentence(quiet(1), "Worth");
  EXPECT_EQ(once, "2.00 times as fast");
}

// The machine became slower after the first round, in which `tmpfs` and `threads` ran.
TEST(Advice, ARowThatRanOnceIsComparedWithItsRound) {
  std::vector<json> records = {run("disk", 20, json::object(), 0),
                               run("tmpfs", 10, {{"base", "disk"}, {"storage", "tmpfs"}}, 0),
                               run("threads", 9.5, {{"base", "disk"}, {"loader_threads", 4}}, 2)};
  for (int repeat = 1; repeat < 5; ++repeat) records.push_back(run("disk", 40, json::object(), repeat));
  const Summary summary = summarise(typed(records)).at(0);
  const auto ratio = [&](const std::string& id) {
    for (const SummaryRow& row : summary.rows)
      if (row.id == id) return row.ratio.value_or(0);
    return 0.0;
  };
  EXPECT_NEAR(ratio("tmpfs"), 2, 0.01);
  EXPECT_NEAR(ratio("threads"), 40 / 9.5, 0.01) << "its only run was in the third round";
  EXPECT_NEAR(summary.rows.at(0).total_s, 40, 0.1) << "the median of all its runs";
  EXPECT_NE(markdown_table(summary).find("of the rounds that both ran, because"), std::string::npos);
}

TEST(Advice, IsThatOfTheRowsThatRan) {
  std::vector<json> records = quiet();
  set(records, "tmpfs", "/status", "CRASHED");
  EXPECT_TRUE(contains(sentence(records, "Fix next"), "no change in this run"))
      << sentence(records, "Fix next");
  EXPECT_TRUE(contains(sentence(records, "Fix next"), "explain disk"));  // the slowest row
  EXPECT_TRUE(contains(sentence(records, "Trust"), "no figure of row tmpfs")) << sentence(records, "Trust");
}

TEST(Advice, LeavesOutWhatIsNoRemedy) {
  for (const auto& [pointer, value] : std::map<const char*, json>{
           {"/config/order", "in_order"}, {"/config/batch", 64}, {"/emulated", {"read_rate: 100"}}}) {
    std::vector<json> records = quiet();
    set(records, "tmpfs", pointer, value);
    EXPECT_FALSE(contains(sentence(records, "Fix next"), "row tmpfs")) << pointer;
  }
}

TEST(Advice, AGainBelowTheDifferenceOfEqualRowsIsNone) {
  std::vector<json> records = quiet();
  set(records, "disk", "/status", "FAILED");
  EXPECT_TRUE(contains(sentence(records, "Fix next"), "loader_threads 2 -> 4"))
      << sentence(records, "Fix next");
  for (json& record : records)
    if (record["row"] == "1") record["total_s"] = 11.5;  // tmpfs, the same work, takes 10
  EXPECT_TRUE(contains(sentence(records, "Fix next"), "made a row more than 15 % faster"))
      << sentence(records, "Fix next");
  EXPECT_EQ(sentence(records, "Worth"), "not known yet");
  EXPECT_TRUE(contains(sentence(records, "Trust"), "two rows that do the same work differ by 15 %"));
}

TEST(Advice, TrustSaysWhatSpeaksAgainstTheFigures) {
  const std::string rehearsal = sentence(quiet(), "Trust");
  EXPECT_EQ(rehearsal.rfind("low: REHEARSAL", 0), 0u) << rehearsal;
  std::vector<json> article = quiet();
  for (json& record : article) record["scale"] = {{"name", "article"}};
  for (json& record : article)
    if (record["row"] == "1") record["total_s"] = 10.1;
  EXPECT_EQ(sentence(article, "Trust"), "high");
  std::vector<json> once;
  for (const json& record : article)
    if (record["repeat"] == 0) once.push_back(record);
  EXPECT_TRUE(contains(sentence(once, "Trust"), "one run per row"));
  for (const json& record : article)
    if (record["repeat"] == 1 && record["row"] == "1") once.push_back(record);
  EXPECT_TRUE(contains(sentence(once, "Trust"), "1 to 2 runs per row"));
  article[0]["environment"]["window_outside_share"] = 0.12;
  EXPECT_TRUE(
      contains(sentence(article, "Trust"), "others took up to 12 % of the processor time of row disk"))
      << sentence(article, "Trust");
}

TEST(Advice, OfASmokeRunThereIsNone) {
  std::vector<json> records = quiet();
  for (json& record : records) record["scale"] = {{"name", "smoke"}};
  EXPECT_TRUE(contains(sentence(records, "Fix next"), "only tests the program"));
  EXPECT_EQ(sentence(records, "Worth"), "");
  set(records, "disk", "/status", "FAILED");
  for (json& record : records) record["status"] = "FAILED";
  EXPECT_EQ(sentence(records, "Fix next"), "");
}

// Statements about one quantity, on runs whose figures were changed at random.
TEST(Advice, AgreesWithTheTables) {
  unsigned seed = 1;
  const auto random = [&seed] {
    return double((seed = seed * 1103515245u + 12345u) >> 16 & 0x7fff) / 0x8000;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<json> records = quiet(1);
    for (json& record : records) {
      record["total_s"] = 5 + 20 * random();
      record["environment"]["window_outside_share"] = random() < 0.5 ? 0.0 : 0.3 * random();
      if (random() < 0.15) record["status"] = "CRASHED";
    }
    const std::vector<Summary> summaries = summarise(typed(records));
    const Advice advice = advice_of(summaries.at(0));
    double best = 1 + advice.noise.value_or(0);
    for (const SummaryRow& row : summaries[0].rows)
      if (row.ratio) best = std::max(best, *row.ratio);
    if (advice.remedy) {
      EXPECT_NEAR(advice.remedy->gain.value, best, 1e-9) << round;
      EXPECT_NEAR(*advice.remedy->row->ratio, advice.remedy->gain.value, 1e-9) << round;
    } else {
      EXPECT_DOUBLE_EQ(best, 1 + advice.noise.value_or(0)) << round;
    }
    double most = 0;
    for (const SummaryRow& row : summaries[0].rows)
      if (row.ok()) most = std::max(most, row.record->environment.window_outside_share.value_or(0));
    const std::string text = advice_text(summaries[0]);
    EXPECT_EQ(contains(text, "others took"), most >= 0.02 && !text.empty()) << round << text;
  }
}

}  // namespace harness::advice_test
