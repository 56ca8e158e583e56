// unit: the answer of `feed` from made-up records: utilisation, what is fed, what binds, what is needed.
#include "harness/report/summary/feed_answer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/report/explain_text.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::feed_answer_test {
namespace {

using nlohmann::json;

constexpr double kDevice = 100;  // images per second of one device
constexpr int64_t kBatch = 50, kBatches = 10;

// A run on a device as fast as `devices`, with a loader of `loader` images per second.
json run_of(double devices, double loader, const std::string& purpose = "asked", int64_t asked = 4) {
  const double compute_s = double(kBatch) / (kDevice * devices), load_s = double(kBatch) / loader;
  const auto each = [](double ms) {
    return std::vector<std::vector<double>>{std::vector<double>(kBatches, ms)};
  };
  const double step_s = std::max(compute_s, load_s);
  return {{"row", fmt::format("{}-{:g}", purpose, devices)},
          {"scale", {{"name", "feed"}}},
          {"device", {{"kind", "emulated"}}},
          {"config",
           {{"batch", kBatch},
            {"device", "emulated"},
            {"device_file", "test-150"},
            {"storage", "files"},
            {"cache", "cold"},
            {"cpus", 2},
            {"loader_threads", 2}}},
          {"timed_batches", kBatches},
          {"warmup_batches", 0},
          {"total_s", double(kBatches) * step_s},
          {"images_per_second", double(kBatch) / step_s},
          {"device_ms",
           {{"load", each((step_s - compute_s) * 1e3)},
            {"forward", each(compute_s * 300)},
            {"backward", each(compute_s * 690)},
            {"step", each(compute_s * 10)}}},
          {"cache", {{"encoded_bytes", kBatch * kBatches * 100000}}},
          {"device_rates", {{"test-150", kDevice}}},
          {"feed", {{"devices", devices}, {"asked", asked}, {"purpose", purpose}}}};
}

FeedAnswer answer_of(const std::vector<json>& objects) {
  RecordList list;
  for (const Record& record : typed(objects)) list.push_back(&record);
  return feed_answer(list).value();
}

TEST(FeedAnswer, UtilisationIsComputingOverTotal) {
  EXPECT_NEAR(*device_utilisation(typed(run_of(2, 1000))), 1.0, 1e-9);
  EXPECT_NEAR(*device_utilisation(typed(run_of(4, 100))), 0.25, 1e-9);
  json without = run_of(4, 100);
  without.erase("device_ms");
  EXPECT_FALSE(device_utilisation(typed(without)));
}

TEST(FeedAnswer, BatchesThatLayReadyDoNotMakeTheLoaderFaster) {
  json record = run_of(4, 400);
  record["ring"] = {{"depth", 4}, {"ready_at_start", {2}}, {"ready_at_end", {0}}};
  // 8 batches were loaded in the time of 10.
  EXPECT_NEAR(*device_utilisation(typed(record)), 0.8, 1e-9);
  EXPECT_NEAR(*delivered_images_per_second(typed(record)), 320, 1e-9);
  record["ring"]["ready_at_end"] = {4};
  EXPECT_NEAR(*device_utilisation(typed(record)), 1.0, 1e-9) << "a ring that fills says nothing";
}

TEST(FeedAnswer, NamesTheLargestFedNumberAndWhatTheAskedOneNeeds) {
  const FeedAnswer answer =
      answer_of({run_of(64, 250, "survey"), run_of(4, 250), run_of(2, 250), run_of(3, 250)});
  EXPECT_EQ(answer.asked_is_fed, false);
  EXPECT_NEAR(answer.fed_by_rate, 250 / 90.0, 1e-6);
  EXPECT_EQ(answer.whole, 2);
  EXPECT_NEAR(answer.device_images_per_second, kDevice, 1e-6);
  EXPECT_NEAR(answer.needed_images_per_second, 0.9 * 4 * kDevice, 1e-6);
  EXPECT_NEAR(answer.loader_images_per_second, 250, 1e-6);
  EXPECT_NEAR(answer.needed_cores.value(), 2 * 360 / 250.0, 1e-6);
  const std::string text = feed_text(answer);
  for (const char* words :
       {"4 x test-150 (emulated)?: NO", "2.78 devices by the loader's rate", "2 fed (100.0 %), 3 not",
        "2.88 cores like the 2 used here (extrapolated beyond 2",
        "36 MB/s from storage (100 kB per image; extrapolated: 25 MB/s were read here)",
        "The loader alone: 250 images/s, 25 MB/s from storage"})
    EXPECT_SAYS(text, words);
}

TEST(FeedAnswer, AHostThatFeedsLessThanOneDeviceGetsAFraction) {
  const FeedAnswer answer = answer_of({run_of(20, 40, "survey", 1), run_of(1, 40, "asked", 1)});
  EXPECT_EQ(answer.whole, 0);
  EXPECT_NEAR(answer.fed_by_rate, 0.444, 0.001);
  EXPECT_SAYS(feed_text(answer), "Less than one device: one has 40.0 %");
}

TEST(FeedAnswer, RunsOfOneNumberCountByTheirMedian) {
  const FeedAnswer answer = answer_of({run_of(4, 300), run_of(4, 370), run_of(4, 365), run_of(5, 370)});
  ASSERT_EQ(answer.points.size(), 2u);
  EXPECT_EQ(answer.points[0].runs, 3u);
  EXPECT_NEAR(answer.points[0].utilisation, 0.9125, 1e-9);
  EXPECT_EQ(answer.asked_is_fed, true);
  EXPECT_EQ(answer.whole, 4);
}

TEST(FeedAnswer, WhatBindsIsWhatMakesItFasterWhenItIsTakenAway) {
  json refused = run_of(20, 0);
  refused["status"] = "SKIPPED", refused["reason"] = "can't be changed";
  const auto binding = [&](double more, double fewer, double memory, double pixels, double made_up) {
    std::vector<json> runs = {run_of(20, 200), run_of(20, 200, "unchanged")};
    const auto add = [&](double rate, const char* purpose) {
      runs.push_back(rate > 0 ? run_of(20, rate, purpose) : refused);
      runs.back()["feed"]["purpose"] = purpose;
    };
    add(more, "more_threads"), add(fewer, "fewer_threads"), add(memory, "in_memory"),
        add(pixels, "no_decoding");
    add(made_up, "made_up");
    return answer_of(runs).binding;
  };
  EXPECT_EQ(binding(205, 190, 600, 900, 1e6), "storage");
  EXPECT_EQ(binding(205, 100, 210, 900, 1e6), "decoding");
  EXPECT_EQ(binding(205, 100, 210, 0, 1e6), "cores") << "no single part explains it";
  EXPECT_EQ(binding(205, 195, 210, 0, 1e6), "loader");
  EXPECT_EQ(binding(300, 100, 210, 220, 1e6), "loader threads");
  EXPECT_EQ(binding(205, 100, 210, 900, 800), "host") << "2000 images/s wanted, and 800 without any loading";
  EXPECT_EQ(binding(0, 0, 0, 0, 0), "");
}

TEST(FeedAnswer, WhatBindsIsNotToldBeforeAllChangesWereTried) {
  std::vector<json> runs = {run_of(4, 200), run_of(20, 200, "unchanged"), run_of(20, 400, "more_threads")};
  const FeedAnswer answer = answer_of(runs);
  EXPECT_EQ(answer.binding, "") << "memory or decoding may bind";
  EXPECT_EQ(answer.missing, "what binds; the time was used up (--within)");
  EXPECT_SAYS(feed_text(answer), "What binds: not answered");
}

TEST(FeedAnswer, SaysWhichRunKeepsItFromAnswering) {
  json failed = run_of(4, 200);
  failed["status"] = "OUT_OF_MEMORY", failed["reason"] = "wanted 1 TB";
  const FeedAnswer answer = answer_of({run_of(20, 200, "survey"), failed});
  EXPECT_EQ(answer.missing,
            "the utilisation of 4 devices, what binds; run asked-4 is OUT_OF_MEMORY: wanted 1 TB");
  EXPECT_SAYS(feed_text(answer), "2.22 devices by the loader's rate");
}

TEST(FeedAnswer, AChangeThatCouldNotBeTriedSaysWhy) {
  json skipped = {{"row", "fewer_threads-8"},
                  {"status", "SKIPPED"},
                  {"reason", "one loader thread can't be halved"},
                  {"feed", {{"devices", 8}, {"asked", 4}, {"purpose", "fewer_threads"}}}};
  const FeedAnswer answer = answer_of({run_of(4, 250), skipped});
  EXPECT_SAYS(feed_text(answer), "not measured: one loader thread can't be halved");
}

TEST(FeedAnswer, OtherProgramsOnTheCoresAreSaid) {
  json quiet = run_of(4, 250), busy = quiet;
  quiet["environment"] = {{"load_average", 2.5}};
  busy["environment"] = {{"load_average", 15.0}};
  EXPECT_EQ(feed_text(answer_of({quiet})).find("Disturbed"), std::string::npos);
  EXPECT_SAYS(feed_text(answer_of({quiet, busy})), "Disturbed: the load average reached 15.0 on 2 cores");
}

TEST(FeedAnswer, OtherRunsHaveNone) {
  json record = run_of(4, 250);
  record.erase("feed");
  const Record typed_record = typed(record);
  EXPECT_FALSE(feed_answer(RecordList{&typed_record}));
}

}  // namespace
}  // namespace harness::feed_answer_test
