// unit: what a run says first: three numbers, trust, and three lists of remedies that the run doesn't refute
#include "harness/report/first_screen.h"

#include <gtest/gtest.h>

#include "harness/report/bottleneck.h"
#include "harness/report/summary/article_comparison.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "tests/support/emulated_records.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::first_screen_test {

using nlohmann::json;

json run(const std::string& row, double seconds, const json& config, int repeat = 0) {
  json record = {{"row", row},
                 {"repeat", repeat},
                 {"total_s", seconds * (1 + 0.001 * repeat)},
                 {"timed_batches", 60},
                 {"config", {{"batch", 32}, {"loader_threads", 2}, {"storage", "files"}, {"cache", "cold"}}},
                 {"machine", {{"cores", 8}, {"sixteen_bit_instructions", {"avx512_bf16"}}}},
                 {"environment", {{"window_steal_share", 0.0}, {"window_outside_share", 0.0}}}};
  record["config"].update(config);
  return record;
}

const json kInMemory = {{"storage", "tmpfs"}, {"cache", "as_is"}};

json changed(const json& a, const json& b) {
  json both = a;
  both.update(b);
  return both;
}

// Files on a disk, in memory (twice as fast), another row with the same work, more threads (a tenth faster),
// four devices (three times as fast) and 16 bits (twenty times as slow).
std::vector<json> quiet(int repeats = 5) {
  std::vector<json> records;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const json memory = changed(kInMemory, {{"base", "disk"}}), on = changed(kInMemory, {{"base", "tmpfs"}});
    records.push_back(run("disk", 20, json::object(), repeat));
    records.push_back(run("tmpfs", 10, memory, repeat));
    records.push_back(run("1", 10.3, changed(kInMemory, {{"window", "100-399"}}), repeat));
    records.push_back(run("threads", 9, changed(on, {{"loader_threads", 4}}), repeat));
    records.push_back(
        run("four", 3.33, changed(on, {{"devices", 4}, {"strategy", "data_parallel"}}), repeat));
    records.push_back(run("o2", 200, changed(on, {{"precision", "o2"}}), repeat));
  }
  return records;
}

void set(std::vector<json>& records, const std::string& row, const char* pointer, const json& value) {
  for (json& record : records)
    if (record["row"] == row) record[json::json_pointer(pointer)] = value;
}

Summary summary_of(const std::vector<json>& records) { return summarise(typed(records)).at(0); }
FirstScreen screen_of(const std::vector<json>& records) { return first_screen(summary_of(records)); }

// The lines of one list, each on its own line.
std::string list(const std::vector<json>& records, size_t which) {
  std::string text;
  const FirstScreen screen = screen_of(records);
  if (screen.lists.size() > which)
    for (const std::string& line : screen.lists[which].second) text += line + "\n";
  return text;
}
enum { kSettings, kConversions, kPurchases };

std::string trust(const std::vector<json>& records) { return screen_of(records).trust; }

TEST(FirstScreen, ListsAreNeverMixed) {
  EXPECT_EQ(list(quiet(1), kSettings),
            "loader_threads 2 -> 4: 1.11 times as fast (row threads instead of tmpfs)\n");
  EXPECT_EQ(
      list(quiet(1), kConversions),
      "storage files -> tmpfs: 2.00 times as fast (row tmpfs instead of disk); the images are copied once\n");
  EXPECT_EQ(list(quiet(1), kPurchases),
            "devices 1 -> 4, strategy single -> data_parallel: 3.00 times as fast for 4 "
            "times the devices (row four instead of tmpfs)\n");
  EXPECT_SAYS(list(quiet(), kConversions), "2.00 (1.99 to 2.01) times as fast");
}

TEST(FirstScreen, ACopyTellsWhatItTook) {
  std::vector<json> records = quiet(1);
  set(records, "tmpfs", "/data", {{"bytes", 620'000'000}, {"images", 5408}, {"copied_in_s", 1.5}});
  EXPECT_SAYS(list(records, kConversions), "; copying 0.62 GB took 1.5 s");
}

TEST(FirstScreen, NamesNothingThatThisRunFoundSlower) {
  std::vector<json> records = quiet(1);
  EXPECT_FALSE(contains(list(records, kSettings), "o2")) << "twenty times slower";
  set(records, "o2", "/total_s", 5);
  EXPECT_SAYS(list(records, kSettings), "precision o0 -> o2: 2.00 times as fast");
}

TEST(FirstScreen, LeavesOutWhatIsNoRemedy) {
  for (const auto& [pointer, value] :
       std::map<const char*, json>{{"/config/order", "in_order"}, {"/config/batch", 64}}) {
    std::vector<json> records = quiet();
    set(records, "tmpfs", pointer, value);
    EXPECT_FALSE(contains(list(records, kConversions), "row tmpfs")) << pointer;
  }
  std::vector<json> smoke = quiet();
  for (json& record : smoke) record["scale"] = {{"name", "smoke"}};
  for (size_t which : {kSettings, kConversions, kPurchases}) EXPECT_EQ(list(smoke, which), "");
  EXPECT_EQ(trust(smoke), "none: scale smoke only tests the program");
}

TEST(FirstScreen, AGainByConstructionSaysSoAndGivesWayToOneThatWasFound) {
  std::vector<json> records = quiet(1);
  set(records, "disk", "/emulated", {"read_rate: 100"});
  set(records, "disk", "/config/read_rate", 100);
  EXPECT_SAYS(list(records, kConversions), "2.00 times as fast (row tmpfs instead of disk; by construction)");
  set(records, "four", "/emulated", {"link: veth"});
  records.push_back(run(
      "two", 5.5, changed(kInMemory, {{"base", "tmpfs"}, {"devices", 2}, {"strategy", "data_parallel"}})));
  EXPECT_SAYS(list(records, kPurchases),
              "1.82 times as fast for 2 times the devices (row two instead of tmpfs)");
}

TEST(FirstScreen, OfEqualGainsTheCheapestIsNamed) {
  std::vector<json> records = quiet(1);
  for (const auto& [row, cpus, seconds] : {std::tuple("24", 24, 8.0), {"32", 32, 7.99}, {"64", 64, 7.98}})
    records.push_back(
        run(row, seconds, changed(kInMemory, {{"base", "tmpfs"}, {"cpus", cpus}, {"loader_threads", cpus}})));
  set(records, "tmpfs", "/config/cpus", 16);
  set(records, "tmpfs", "/config/loader_threads", 16);
  EXPECT_SAYS(list(records, kPurchases), "for 1.5 times the cores (row 24 instead of tmpfs)");
  set(records, "64", "/total_s", 6);
  EXPECT_SAYS(list(records, kPurchases), "for 4 times the cores (row 64 instead of tmpfs)");
}

TEST(FirstScreen, WhatOthersChangedShowsNoGain) {
  std::vector<json> records = quiet(1);
  set(records, "tmpfs", "/environment/window_outside_share", 0.3);
  EXPECT_EQ(list(records, kConversions), "");
  EXPECT_FALSE(contains(list(records, kSettings), "times as fast"));
}

TEST(FirstScreen, AGainBelowTheDifferenceOfEqualRowsIsNone) {
  std::vector<json> records = quiet(1);
  set(records, "1", "/total_s", 11.5);  // tmpfs, the same work, takes 10
  EXPECT_EQ(list(records, kSettings), "");
  EXPECT_SAYS(trust(records), "two rows that do the same work differ by 15 %");
}

// LMDB in random order: read-ahead makes the disk deliver 130 times what is used.
std::vector<json> shuffled_lmdb() {
  const auto batches = [](double ms) { return json::array({std::vector<double>(60, ms)}); };
  json record = run("lmdb-shuffled", 18, {{"storage", "lmdb"}});
  record["samples_ms"] = {{"load", batches(250)}, {"forward", batches(20)}, {"backward", batches(30)}};
  record["ceilings"] = {{"batches", 10}, {"loader_ms", 299.0}, {"read_share", 0.95}, {"compute_ms", 50.0}};
  record["cache"] = {{"state", "cold"}, {"encoded_bytes", 1000}, {"device_bytes", 130'000}};
  return {record};
}

TEST(FirstScreen, EveryRemedyIsAChangeOfExplain) {
  EXPECT_EQ(
      list(shuffled_lmdb(), kSettings),
      "readahead=false for row lmdb-shuffled: not measured yet; `./run_matrix MATRIX.yaml explain lmdb-shuffled "
      "--device cpu "
      "--change no_readahead` does\n");
  std::vector<json> records = shuffled_lmdb();
  records[0]["config"]["readahead"] = false;
  EXPECT_EQ(list(records, kSettings), "") << "in use already";
}

TEST(FirstScreen, TheCommandOfARemedyRepeatsEachSettingWhole) {
  std::vector<json> records = shuffled_lmdb();
  records[0]["set"] = "batch=16 command=python mine.py --lr=0.1 loader_threads=2";
  const std::string text = list(records, kSettings);
  EXPECT_SAYS(text, "--set batch=16 --set 'command=python mine.py --lr=0.1' --set loader_threads=2` does");
}

TEST(FirstScreen, CoresThatThisMachineLacksAreNotTried) {
  std::vector<json> records = shuffled_lmdb();
  records[0]["ceilings"]["read_share"] = 0.1;
  records[0]["config"].update({{"cpus", 2}, {"loader_threads", 2}});
  records[0]["machine"]["cores"] = 2;
  EXPECT_SAYS(list(records, kPurchases),
              "more cores for the loader for row lmdb-shuffled: this machine has none");
  records[0]["machine"]["cores"] = 4;
  EXPECT_SAYS(list(records, kPurchases), "--change more_cores` does");
}

TEST(FirstScreen, TrustSaysWhatSpeaksAgainstTheFigures) {
  EXPECT_EQ(trust(quiet()).rfind("low: REHEARSAL", 0), 0u) << trust(quiet());
  std::vector<json> article = quiet();
  for (json& record : article) record["scale"] = {{"name", "article"}};
  set(article, "1", "/total_s", 10.1);
  EXPECT_EQ(trust(article), "high");
  set(article, "disk", "/environment/window_outside_share", 0.05);
  EXPECT_SAYS(trust(article), "others took processor time of row disk");
  set(article, "o2", "/status", "CRASHED");
  EXPECT_SAYS(trust(article), "no figure of row o2");
  std::vector<json> once;
  for (const json& record : article)
    if (record["repeat"] == 0) once.push_back(record);
  EXPECT_SAYS(trust(once), "some rows ran only 1 time");
}

TEST(FirstScreen, TrustSaysHowFarEmulatedRowsMissTheArticle) {
  const std::vector<json> emulated = {emulated_records::emulated("0", 161),
                                      emulated_records::emulated("10", 65.6)};
  EXPECT_SAYS(trust(emulated), "wasn't calibrated on differ from the article by up to 9 %");
  EXPECT_FALSE(contains(trust(quiet()), "calibrated"));
}

TEST(FirstScreen, SaysHowManyRowsTrained) {
  const auto trained = [](const std::vector<json>& records) {
    return screen_of(records).numbers.back().second;
  };
  std::vector<json> records = quiet(1);
  set(records, "o2", "/status", "SKIPPED");
  EXPECT_EQ(trained(records), "5 of 6 rows trained for real on this processor");
  std::vector<json> emulated = {emulated_records::emulated("0", 161), emulated_records::emulated("7", 81.7)};
  EXPECT_EQ(trained(emulated), "not checked in this run: emulated devices only wait");
  emulated[0]["checks"] = {{{"name", "trained"}, {"ok", true}, {"detail", ""}}};
  EXPECT_EQ(trained(emulated), "1 of 2 rows trained for real on this processor (not in 7)");
}

TEST(FirstScreen, IsEmptyWithoutARowThatRan) {
  std::vector<json> records = quiet(1);
  for (json& record : records) record["status"] = "CRASHED";
  EXPECT_TRUE(screen_of(records).empty());
  EXPECT_EQ(first_screen_text(summary_of(records)), "");
}

TEST(Rates, OfEmulatedRowsAreTheArticles) {
  std::vector<json> records = {emulated_records::emulated("0", 161), emulated_records::emulated("12", 41.6)};
  const Records full_size = at_full_size(typed(records));
  const Summary summary = summarise(full_size).at(0);
  const Rates rates = rates_of(summary);
  EXPECT_FALSE(rates.multiples);
  EXPECT_NEAR(rates.rows[0].article.value(), 512 * 300 / 161.0, 1e-6);
  EXPECT_NEAR(rates.rows[0].here.value(), 512 * 300 / 161.0, 1e-6);
  EXPECT_TRUE(rates.rows[0].by_construction) << "the device file was calibrated on it";
  EXPECT_FALSE(rates.rows[1].by_construction);
  EXPECT_EQ(rates.rows[0].batch, 512);

  records[0]["feed"] = {{"devices", 8}, {"asked", 8}, {"purpose", "asked"}};
  const Summary fed = summary_of(records);
  EXPECT_NEAR(rates_of(fed).rows[0].here.value(), 512 * 300 / 161.0 / 8, 1e-6)
      << "its time_scale makes it as fast as eight devices";
}

TEST(Rates, OfARehearsalAreMultiplesAndNeverBesideTheArticlesImagesPerSecond) {
  std::vector<json> records = {run("0", 20, {{"published_s", 161.0}}),
                               run("7", 25, {{"base", "0"}, {"published_s", 81.7}}),
                               run("10", 20, {{"base", "7"}, {"published_s", 60.2}})};
  for (json& record : records) record["config"]["id"] = record["row"];
  const Summary summary = summary_of(records);
  const Rates rates = rates_of(summary);
  EXPECT_TRUE(rates.multiples);
  EXPECT_NEAR(rates.rows[1].here.value(), 0.8, 1e-9);
  EXPECT_NEAR(rates.rows[1].article.value(), 161 / 81.7, 1e-9);
  EXPECT_NEAR(rates.rows[2].here.value(), 1, 1e-9) << "of row 0, not of its base";
  EXPECT_NEAR(rates.rows[2].article.value(), 161 / 60.2, 1e-9);

  records.erase(records.begin() + 1);  // row 10's base: else it would look as fast as row 0
  const Summary without = summary_of(records);
  EXPECT_FALSE(rates_of(without).multiples);
  EXPECT_FALSE(rates_of(without).rows[1].article);
  EXPECT_EQ(rates_of(without).rows[1].here, without.rows[1].images_per_second);
}

// The lists, the tables and the change table agree on runs whose figures were changed at random.
TEST(FirstScreen, AgreesWithTheTables) {
  unsigned seed = 1;
  const auto random = [&seed] {
    return double((seed = seed * 1103515245u + 12345u) >> 16 & 0x7fff) / 0x8000;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<json> records = quiet(1);
    for (json& record : records) {
      record["total_s"] = 5 + 20 * random();
      record["environment"]["window_outside_share"] = random() < 0.5 ? 0.0 : 0.3 * random();
      if (random() < 0.15) record["status"] = "CRASHED";
    }
    const Summary summary = summary_of(records);
    const double noise = noise_between_equal_rows(summary).value_or(0);
    for (const Remedy& remedy : remedies_of(summary)) {
      ASSERT_NE(find_intervention(remedy.change->name), nullptr);
      EXPECT_NE(remedy.change->cost, Cost::none);
      if (!remedy.row) continue;
      EXPECT_NEAR(*remedy.row->ratio, remedy.gain.value, 1e-9) << round;
      EXPECT_GT(remedy.gain.value, 1 + noise) << round;
      for (const SummaryRow* row : {remedy.base, remedy.row})
        EXPECT_EQ(no_verdict(*row->record), "") << round;
    }
  }
}

}  // namespace harness::first_screen_test
