// unit: validation of a run against good ones: slow ranks, slow nodes, and what must not be called odd.
#include "harness/compare/validate.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/typed_records.h"

namespace harness::validate_test {

using nlohmann::json;

// Four ranks on two nodes; forward times by rank.
json record_of(const std::vector<double>& forward_ms, double scatter = 0) {
  json load = json::array(), forward = json::array(), sync = json::array(), map = json::array();
  for (size_t rank = 0; rank < forward_ms.size(); ++rank) {
    const double ms = forward_ms[rank] * (1 + scatter * (rank % 2 ? 1 : -1));
    load.push_back(std::vector<double>(10, 5));
    forward.push_back(std::vector<double>(10, ms));
    sync.push_back(std::vector<double>(10, 200 - ms));
    map.push_back({{"rank", rank}, {"node", rank / 2}, {"host", rank < 2 ? "a" : "b"}});
  }
  return {{"row", "12"},
          {"status", "OK"},
          {"world_size", forward_ms.size()},
          {"timed_batches", 10},
          {"rank_map", map},
          {"config", {{"batch", 32}}},
          {"samples_ms", {{"load", load}, {"forward", forward}, {"sync", sync}}}};
}

using References = std::vector<std::vector<json>>;

Validation validate(const std::vector<json>& run, const References& references) {
  std::vector<Records> good;
  for (const std::vector<json>& reference : references) good.push_back(typed(reference));
  return validate(typed(run), good);
}

const std::vector<std::vector<json>> good = {{record_of({100, 101, 99, 100})},
                                             {record_of({100, 100, 102, 99})}};

TEST(Validate, AGoodRunHasNoOddRanks) {
  const Validation it = validate({record_of({101, 100, 99, 103})}, good);
  EXPECT_TRUE(it.odd.empty()) << it.odd[0];
  EXPECT_EQ(it.checks.size(), 8u) << "loading and computing of four ranks";
}

TEST(Validate, ASlowRankIsNamedWithItsNode) {
  const Validation it = validate({record_of({100, 100, 100, 130})}, good);
  EXPECT_EQ(it.odd, std::vector<std::string>{"rank 3 on node 1 (b): computing +30 % (row 12)"});
}

TEST(Validate, ASlowNodeIsOneFinding) {
  const Validation it = validate({record_of({100, 100, 120, 130})}, good);
  EXPECT_EQ(it.odd, std::vector<std::string>{"node 1 (b): all 2 ranks, computing at least +20 % (row 12)"});
}

TEST(Validate, WaitingForASlowRankIsNotOdd) {
  const Validation it = validate({record_of({60, 60, 60, 130})}, good);
  ASSERT_EQ(it.odd.size(), 1u) << "the others wait longer in sync";
  EXPECT_NE(it.odd[0].find("rank 3"), std::string::npos);
}

// The host launches, and waits in `loss` until its device has waited for the others.
json record_on_device(const std::vector<double>& forward_ms, double step_ms) {
  json record = record_of(forward_ms);
  record["device_ms"] = record["samples_ms"];
  for (json& rank : record["samples_ms"]["forward"]) rank = std::vector<double>(10, 1);
  record["samples_ms"]["loss"] = json::array();
  for (size_t rank = 0; rank < forward_ms.size(); ++rank)
    record["samples_ms"]["loss"].push_back(std::vector<double>(10, step_ms));
  record["samples_ms"].erase("sync");
  return record;
}

TEST(Validate, ASlowDeviceDoesNotMakeTheOthersOdd) {
  const References good_devices = {{record_on_device({100, 101, 99, 100}, 100)},
                                   {record_on_device({100, 100, 102, 99}, 100)}};
  json slow = record_on_device({100, 100, 100, 130}, 130);
  slow["device_ms"]["forward"][0][0] = nullptr;  // a batch without a time
  EXPECT_EQ(validate({slow}, good_devices).odd,
            std::vector<std::string>{"rank 3 on node 1 (b): computing +30 % (row 12)"});
}

TEST(Validate, ReferencesThatScatterWidenTheLimit) {
  const std::vector<std::vector<json>> wide = {{record_of({100, 100, 100, 100}, 0.08)},
                                               {record_of({100, 100, 100, 100}, 0.08)}};
  EXPECT_TRUE(validate({record_of({100, 100, 100, 115})}, wide).odd.empty());
  EXPECT_FALSE(validate({record_of({100, 100, 100, 115})}, good).odd.empty());
}

// As a run against itself.
TEST(Validate, WhatAReferenceShowsTooIsNotOdd) {
  const std::vector<json> run = {record_of({100, 100, 100, 112})};
  EXPECT_TRUE(validate(run, {run}).odd.empty());
  EXPECT_EQ(validate({record_of({100, 100, 100, 200})}, {run}).odd.size(), 1u);
}

// A threshold for each line alone names more ranks by chance the more lines there are.
TEST(Validate, ManyRanksThatScatterAreNotOdd) {
  std::mt19937 random(1);
  std::normal_distribution<double> ms(100, 4);
  const auto run = [&] {
    std::vector<double> forward_ms(64);
    for (double& it : forward_ms) it = ms(random);
    return std::vector<json>{record_of(forward_ms)};
  };
  size_t named = 0;
  for (int trial = 0; trial < 20; ++trial) named += !validate(run(), {run(), run()}).odd.empty();
  EXPECT_LE(named, 3u) << "of 20 runs, of which 5 % may have an odd rank by chance";
}

TEST(Validate, OneRankRowsAreHeldAgainstOtherMachines) {
  std::vector<std::vector<json>> others;
  for (double ms : {100.0, 101.0, 99.0, 100.0}) others.push_back({record_of({ms})});
  EXPECT_TRUE(validate({record_of({102})}, others).odd.empty());
  EXPECT_EQ(validate({record_of({120})}, others).odd.size(), 1u);
}

TEST(Validate, TooFewReferencesOrOtherWorkIsSaid) {
  const Validation few = validate({record_of({100})}, {{record_of({50})}});
  EXPECT_TRUE(few.checks.empty() && few.odd.empty());
  ASSERT_EQ(few.remarks.size(), 1u);
  EXPECT_NE(few.remarks[0].find("name more runs"), std::string::npos);
  auto other = good;
  for (auto& reference : other)
    for (json& record : reference) record["config"]["batch"] = 64;
  EXPECT_EQ(validate({record_of({100, 100, 100, 130})}, other).remarks.size(), 1u);
}

TEST(Validate, ARowThatTookNoTimeIsNotChecked) {
  json record = record_of({0, 0, 0, 0});
  for (const char* phase : {"load", "sync"})
    for (json& rank : record["samples_ms"][phase]) rank = std::vector<double>(10, 0);
  EXPECT_TRUE(validate({record}, good).checks.empty());
}

TEST(Validate, AnotherKindOfMachineIsSaid) {
  json record = record_of({100, 100, 100, 100});
  EXPECT_TRUE(validate({record}, good).remarks.empty());
  record["machine"]["cpu"] = "another processor";
  const Validation across = validate({record}, good);
  ASSERT_EQ(across.remarks.size(), 1u);
  EXPECT_NE(across.remarks[0].find("different machines: the run's is another processor"), std::string::npos)
      << across.remarks[0];
}

TEST(Validate, AFailedRowIsOddByItself) {
  json record = record_of({100, 100, 100, 100});
  record["status"] = "HUNG";
  record["reason"] = "rank 2 is silent";
  EXPECT_EQ(validate({record}, good).odd, std::vector<std::string>{"row 12 is HUNG: rank 2 is silent"});
  record["status"] = "SKIPPED";
  EXPECT_TRUE(validate({record}, good).odd.empty());
}

TEST(Validate, TheGridHasALineForEachRankAndPart) {
  const Grid grid = validation_grid(validate({record_of({100, 100, 100, 130})}, good));
  EXPECT_EQ(grid.rows.size(), 8u);
  EXPECT_EQ(grid.rows.back().back(), "ODD");
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
}

}  // namespace harness::validate_test
