// unit: what binds a row, from made-up runs of `explain`: gains, verdicts, burdens, ladders, bad luck.
#include "harness/report/summary/explanation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "harness/report/explain_text.h"
#include "harness/stats/full_size.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness::explanation_test {
namespace {

using nlohmann::json;

constexpr int64_t kBatch = 32, kBatches = 60;

json run_of(const std::string& change, int64_t block, double step_ms, double added_ms = 0) {
  return {{"row", "7-" + change},
          {"repeat", block},
          {"config", {{"batch", kBatch}, {"timed_batches", kBatches}}},
          {"timed_batches", kBatches},
          {"total_s", double(kBatches) * step_ms * 1e-3},
          {"images_per_second", double(kBatch) * 1e3 / step_ms},
          {"intervention", {{"of", "7"}, {"change", change}, {"block", block}, {"added_ms", added_ms}}}};
}

// Blocks of runs whose steps take these milliseconds; a disturbance of a few percent is common to a block.
class Made {
 public:
  explicit Made(int64_t blocks, double noise = 0.005) : blocks_(blocks), noise_(0, noise) {}
  Made& with(const std::string& change, double step_ms, double added_ms = 0) {
    for (int64_t block = 0; block < blocks_; ++block)
      runs_.push_back(run_of(change, block,
                             step_ms * (1 + 0.05 * double(block % 3)) * std::exp(noise_(random_)), added_ms));
    return *this;
  }
  // In the first block alone, as what gained nothing there.
  Made& once(const std::string& change, double step_ms) {
    runs_.push_back(run_of(change, 0, step_ms));
    return *this;
  }
  Made& refused(const std::string& change, const std::string& why) {
    json record = run_of(change, 0, 1);
    for (const char* figure : {"total_s", "images_per_second"}) record.erase(figure);
    record["status"] = "SKIPPED";
    record["reason"] = why;
    runs_.push_back(record);
    return *this;
  }
  Explanation explanation() const { return explanations_of(pointers_to(typed(runs_))).at(0); }

 private:
  const int64_t blocks_;
  std::mt19937 random_{7};
  std::normal_distribution<double> noise_;
  std::vector<json> runs_;
};

std::string cause(const Made& made) {
  const Explanation explanation = made.explanation();
  const auto found = explanation.binding();
  return found.empty() ? "" : found[0]->change->resource;
}

const ExplainedChange& change_in(const Explanation& explanation, const std::string& name) {
  for (const ExplainedChange& change : explanation.changes)
    if (change.change->name == name) return change;
  throw std::out_of_range(name);
}

TEST(Explanation, TheCauseIsWhatGainsMostWhenItIsRelieved) {
  // Unchanged, a step takes 40 ms.
  const auto expect = [](const std::string& a, double a_ms, const std::string& b, double b_ms,
                         const std::string& expected) {
    EXPECT_EQ(cause(Made(5).with("unchanged", 40).with(a, a_ms).with(b, b_ms)), expected) << a << ", " << b;
  };
  expect("in_memory", 22, "no_decoding", 20, "storage");
  expect("in_memory", 39, "no_decoding", 20, "decoding");
  expect("more_threads", 21, "no_decoding", 39, "loader threads");
  // All of the step scales with threads, only 60 % is decoding that the device doesn't hide.
  expect("more_threads", 21, "no_decoding", 16, "loader threads");
  expect("more_threads", 21, "made_up", 12, "loader threads");  // made-up batches: over twice the threads
  expect("more_threads", 40, "made_up", 12, "loader");
  expect("timed_device", 39, "faster_device", 20, "device");
  expect("timed_device", 25, "faster_device", 24, "cores shared with the device");
  expect("faster_link", 30, "no_collectives", 31, "link between nodes");
  expect("faster_link", 40, "no_collectives", 30, "collectives");
  expect("no_launches", 30, "smaller_copies", 39, "kernel launches");
  EXPECT_EQ(cause(Made(5).with("unchanged", 40).with("smaller_copies", 30)), "copies to the device");
  EXPECT_EQ(cause(Made(5).with("unchanged", 40).with("no_host_work", 30)), "host work");
}

TEST(Explanation, CoresAreNoCauseWhereTheirThreadsAloneHelp) {
  const Explanation explanation = Made(5)
                                      .with("unchanged", 40)
                                      .with("more_threads", 20)
                                      .with("more_cores", 20)
                                      .with("in_memory", 16)
                                      .explanation();
  const auto found = explanation.binding();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_STREQ(found[0]->change->resource, "loader threads");
  EXPECT_STREQ(found[1]->change->resource, "storage");
}

// The first block is the fastest: over all blocks, the narrower change would seem to gain. With 38 it does.
TEST(Explanation, ANarrowerChangeThatGainedLittleInItsOneBlockIsNoPartner) {
  for (const double ms : {39.9, 38.0}) {
    const Made made = Made(5).with("unchanged", 40).once("more_threads", ms).with("more_cores", 20);
    EXPECT_EQ(cause(made), "cores") << ms;
    const Explanation explanation = made.explanation();
    EXPECT_STREQ(change_in(explanation, "more_cores").over->name, "unchanged") << ms;
  }
  const Made much = Made(5).with("unchanged", 40).once("more_threads", 20).with("more_cores", 19);
  const Explanation explanation = much.explanation();
  EXPECT_STREQ(change_in(explanation, "more_cores").over->name, "more_threads");
}

TEST(Explanation, TwoCausesAreNamedInTheirOrder) {
  const Explanation explanation =
      Made(5).with("unchanged", 40).with("in_memory", 32).with("no_decoding", 20).explanation();
  const auto found = explanation.binding();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_STREQ(found[0]->change->resource, "decoding");
  EXPECT_NEAR(found[0]->part->value, 1.6, 0.05) << "of what reading from memory left";
  EXPECT_NEAR(found[0]->effect->value, 2.0, 0.05) << "against the unchanged row";
  EXPECT_STREQ(found[1]->change->resource, "storage");
  const std::string text = explain_text({explanation});
  for (const char* words : {"What binds row 7: decoding, 30 % of the step", "next: storage (20 %)",
                            "Try: decoded images (storage=raw)", "as with storage"})
    EXPECT_SAYS(text, words);
}

TEST(Explanation, SharesAreOfTheUnchangedStep) {
  // 70 ms of reading, 25 of decoding
  const Explanation explanation =
      Made(5).with("unchanged", 100).with("in_memory", 30).with("no_decoding", 5).explanation();
  const auto found = explanation.binding();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_STREQ(found[0]->change->resource, "storage");
  EXPECT_NEAR(found[0]->share, 0.70, 0.01);
  EXPECT_NEAR(found[1]->share, 0.25, 0.01);
}

TEST(Explanation, ARungThatCouldNotBeMeasuredIsSteppedOver) {
  const Explanation explanation = Made(5)
                                      .with("unchanged", 40)
                                      .refused("in_memory", "it is read from memory already")
                                      .with("no_decoding", 20)
                                      .explanation();
  EXPECT_STREQ(change_in(explanation, "no_decoding").over->name, "unchanged");
  EXPECT_STREQ(explanation.binding().at(0)->change->resource, "decoding");
  EXPECT_SAYS(explain_text({explanation}), "Not measured: in_memory: it is read from memory already");
}

TEST(Explanation, OneBlockNamesWhatIsLikelyAndSaysThatItIsNotSure) {
  const Explanation explanation = Made(1).with("unchanged", 40).with("in_memory", 2).explanation();
  EXPECT_TRUE(explanation.binding().empty());
  EXPECT_STREQ(explanation.likely()->change->resource, "storage");
  const std::string text = explain_text({explanation});
  for (const char* words : {"likely storage, but that is not sure", "makes the row 20.", "it ran 1 time; two",
                            "range, no verdict", "Try: a copy of the images in memory"})
    EXPECT_SAYS(text, words);
}

TEST(Explanation, AGainThatMayBeAnythingIsNoFigure) {
  const Made made = Made(2, 3)
                        .with("unchanged", 40)
                        .with("in_memory", 2)
                        .with("more_threads", 41)
                        .with("no_decoding", 20.2);
  const Explanation explanation = made.explanation();
  EXPECT_GT(change_in(explanation, "in_memory").effect->high,
            10 * change_in(explanation, "in_memory").effect->low);
  const std::string text = explain_text({explanation});
  for (const char* words : {"What binds row 7: undecided: the gain of", "scatter more than"})
    EXPECT_SAYS(text, words);
  for (const char* figure : {" to 1000", "pooled)", "Try:"})
    EXPECT_EQ(text.find(figure), std::string::npos) << text;
}

TEST(Explanation, AJobThatOthersDisturbedSaysSoFirst) {
  json run = run_of("unchanged", 0, 40);
  run["job"] = {{"command", {"python"}}};
  run["environment"] = {{"window_steal_share", 0.05}, {"window_outside_share", 0.7}};
  const std::string text = explain_text(explanations_of(pointers_to(typed(std::vector<json>{run}))));
  EXPECT_EQ(text.rfind("Trust: low: others took up to 75 % of the processor", 0), 0u) << text;
}

TEST(Explanation, TwoBlocksAreEnoughWhereOthersOfTheKindTellTheScatter) {
  const Made made =
      Made(2).with("unchanged", 40).with("in_memory", 20).with("more_threads", 41).with("no_decoding", 20.2);
  const Ratio gain = *change_in(made.explanation(), "in_memory").part;
  EXPECT_TRUE(gain.pooled);
  EXPECT_LT(gain.low, gain.value);
  EXPECT_EQ(cause(made), "storage");
  EXPECT_SAYS(explain_text({made.explanation()}), "pooled");
  EXPECT_EQ(cause(Made(2, 0.02).with("unchanged", 40).with("in_memory", 30)), "")
      << "two rows with two runs each are too few to borrow from";
  EXPECT_EQ(cause(Made(2, 0.02).with("unchanged", 40).with("in_memory", 1)), "storage")
      << "what no scatter makes";
}

// Two and three blocks borrow scatter, five have their own.
TEST(Explanation, ChangesWithoutAnEffectAreNoCauses) {
  for (const int64_t blocks : {2, 3, 5}) {
    int named = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      std::normal_distribution<double> noise(0, 0.03);
      std::vector<json> runs;
      for (const char* change : {"unchanged", "more_threads", "in_memory", "no_decoding", "made_up",
                                 "timed_device", "faster_device"})
        for (int64_t block = 0; block < blocks; ++block)
          runs.push_back(run_of(change, block, 40 * std::exp(noise(random))));
      named += !explanations_of(pointers_to(typed(runs))).at(0).binding().empty();
    }
    EXPECT_LE(named, 10 + 7) << blocks << " blocks, of 200 runs without any effect; at most 5 % (and two "
                             << "standard deviations more)";
  }
}

TEST(Explanation, ABurdenSaysHowCriticalItsPartIs) {
  const Explanation explanation = Made(5, 0.0)
                                      .with("unchanged", 40)
                                      .with("added_host_work", 44, 4)
                                      .with("added_read_time", 40, 4)
                                      .explanation();
  EXPECT_NEAR(change_in(explanation, "added_host_work").slope->value, 1.05, 0.06);
  EXPECT_NEAR(change_in(explanation, "added_read_time").slope->value, 0, 1e-6);
  EXPECT_TRUE(explanation.binding().empty()) << "slower is no relief";
  EXPECT_SAYS(explain_text({explanation}), "each ms added costs 1.0");
}

TEST(Explanation, PricesGiveTheGainPerUnitOfMoney) {
  std::vector<json> runs;
  const json prices = {{"unit", "EUR"}, {"core", 5}, {"mb_per_s", 0.5}, {"gpu", 100}};
  const auto add = [&](const char* change, double step_ms, const json& config) {
    for (int64_t block = 0; block < 5; ++block) {
      runs.push_back(run_of(change, block, step_ms));
      runs.back()["config"].update(config);
      runs.back()["intervention"]["prices"] = prices;
      runs.back()["data"] = {{"bytes", 100'000'000}, {"images", 1000}};
    }
  };
  add("unchanged", 32, {{"cpus", 4}});  // 1000 images/s
  add("more_cores", 16, {{"cpus", 8}});
  add("more_threads", 32, {{"cpus", 4}});
  add("in_memory", 16, {{"cpus", 4}});
  add("faster_device", 32, {{"cpus", 4}, {"devices", 1}});
  add("no_decoding", 16, {{"cpus", 4}});
  const Explanation explanation = explanations_of(pointers_to(typed(runs))).at(0);
  EXPECT_NEAR(change_in(explanation, "more_cores").price.value(), 20, 1e-9);
  EXPECT_EQ(change_in(explanation, "more_threads").price, 0);
  EXPECT_NEAR(change_in(explanation, "in_memory").price.value(), 1000 * 0.1 * 0.5, 1e-6) << "100 MB/s more";
  EXPECT_NEAR(change_in(explanation, "faster_device").price.value(), 100, 1e-9);
  EXPECT_FALSE(change_in(explanation, "no_decoding").price);
  const std::string text = explain_text({explanation});
  EXPECT_SAYS(text, "50 (50 to 50)") << "1000 images/s for 20 EUR";

  for (json& run : runs) {
    run["config"]["time_scale"] = 8;
    run["emulation"] = golden("every_key.jsonl").at(5)["emulation"];  // batches / 16
  }
  const Records full_size = at_full_size(typed(runs));
  const Explanation emulated = explanations_of(pointers_to(full_size)).at(0);
  EXPECT_NEAR(emulated.images_per_second, 8000, 1e-6) << "in the devices' time";
  EXPECT_NEAR(change_in(emulated, "more_cores").images_per_second, 16000, 1e-6);
  EXPECT_NEAR(change_in(emulated, "in_memory").price.value(), 8000 * 0.1 * 0.5, 1e-6);
  EXPECT_SAYS(explain_text({emulated}), "60 batches of 512 images; blocks: 5; unchanged: 8000 images/s");
}

// A row and two changes, with the price of a kWh and these other keys of a price file.
Explanation with_energy(json prices, const json& extra = {}) {
  prices.update({{"unit", "EUR/month"}, {"kWh", 0.36}});
  std::vector<json> runs;
  const auto add = [&](const char* change, double step_ms, int64_t cpus, double joules) {
    for (int64_t block = 0; block < 5; ++block) {
      json run = run_of(change, block, step_ms);
      run["config"].update({{"cpus", cpus}});
      run["intervention"]["prices"] = prices;
      run["world_size"] = 1;
      run["timed_batches"] = 10;
      if (!extra.empty()) run.update(extra);
      if (extra.contains("gpu")) run["gpu"][0]["energy_j"] = joules;
      runs.push_back(run);
    }
  };
  add("unchanged", 32, 4, 320);  // 32 images a batch: 1000 images/s
  add("more_cores", 16, 6, 160);
  add("no_decoding", 16, 4, 160);
  return explanations_of(pointers_to(typed(runs))).at(0);
}

TEST(Explanation, StatedWattsGiveTheGainPerKwh) {
  const Explanation explanation = with_energy({{"watts_per_core", 10}}, {{"device", {{"kind", "cpu"}}}});
  ASSERT_TRUE(explanation.energy);
  EXPECT_FALSE(explanation.energy->measured);
  EXPECT_NEAR(explanation.energy->joules_per_image, 0.04, 1e-9) << "40 W at 1000 images/s";
  const ExplainedChange& cores = change_in(explanation, "more_cores");  // 60 W at 2000 images/s
  EXPECT_NEAR(cores.more_images_per_kwh.value(), 3.6e6 / 0.03 - 3.6e6 / 0.04, 1e-3);
  EXPECT_NEAR(cores.less_kwh_per_image.value(), 0.01 / 3.6e6, 1e-12);
  EXPECT_FALSE(change_in(explanation, "no_decoding").more_images_per_kwh) << "can't be bought";
  const std::string text = explain_text({explanation});
  EXPECT_SAYS(text, "+30000000 (stated)");
  EXPECT_SAYS(text, "+0.001") << "10 kJ are 0.001 EUR at 0.36 EUR";
}

TEST(Explanation, MeasuredEnergyIsPreferredAndMarked) {
  const json gpus = {{"device", {{"kind", "cuda"}}}, {"gpu", {{{"rank", 0}, {"samples", 9}}}}};
  const Explanation measured = with_energy({{"watts_per_gpu", 10}}, gpus);
  ASSERT_TRUE(measured.energy);
  EXPECT_TRUE(measured.energy->measured);
  EXPECT_NEAR(measured.energy->joules_per_image, 1, 1e-9) << "320 J for ten batches of 32";
  EXPECT_NEAR(change_in(measured, "more_cores").more_images_per_kwh.value(), 3.6e6, 1);
  EXPECT_SAYS(explain_text({measured}), "(measured)");
}

TEST(Explanation, WithoutKnownEnergyThereIsNoGainPerKwh) {
  const Explanation unknown = with_energy({{"watts_per_gpu", 10}}, {{"device", {{"kind", "cpu"}}}});
  EXPECT_FALSE(unknown.energy);
  EXPECT_FALSE(change_in(unknown, "more_cores").more_images_per_kwh);
  EXPECT_SAYS(explain_text({unknown}), "Energy is unknown");
}

TEST(Explanation, EachRowHasItsOwn) {
  json other = run_of("unchanged", 0, 20);
  other["intervention"]["of"] = "12";
  const auto all = explanations_of(pointers_to(typed(std::vector<json>{run_of("unchanged", 0, 40), other})));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].of, "12");
  EXPECT_NEAR(all[1].images_per_second, 1600, 1e-6);
}

TEST(Explanation, WithoutAnUnchangedRunThereIsNoFigure) {
  const Explanation explanation = Made(5).with("no_decoding", 20).explanation();
  EXPECT_EQ(explanation.blocks, 0u);
  EXPECT_TRUE(explanation.binding().empty());
  EXPECT_SAYS(explain_text({explanation}), "no figure: the unchanged row did not run well");
  const Explanation skipped = Made(5).refused("unchanged", "a GPU is missing").explanation();
  EXPECT_SAYS(explain_text({skipped}), "did not run well: a GPU is missing");
}

TEST(Explanation, UnknownChangesOfLaterVersionsAreIgnored) {
  const Explanation explanation =
      Made(5).with("unchanged", 40).with("warmer_room", 20).with("more_threads", 41).explanation();
  EXPECT_EQ(explanation.changes.size(), 1u);
}

}  // namespace
}  // namespace harness::explanation_test
