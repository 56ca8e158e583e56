// unit: comparing two runs: what may be compared, verdicts, what phases a difference is made of, noise.
#include "harness/compare/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/base/exit_code.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

namespace harness::comparison_test {

using nlohmann::json;

struct Ran {
  std::string row = "7";
  double load_ms = 10, forward_ms = 90;
  int repeat = 0;
};

json record_of(const Ran& ran) {
  const auto batches = [](double ms) { return json::array({std::vector<double>(10, ms)}); };
  return {{"schema", 1},
          {"row", ran.row},
          {"repeat", ran.repeat},
          {"status", "OK"},
          {"reason", ""},
          {"timed_batches", 10},
          {"total_s", (ran.load_ms + ran.forward_ms) / 100},
          {"scale", {{"name", "rehearsal"}}},
          {"device", {{"kind", "cpu"}, {"name", "Zen"}}},
          {"machine",
           {{"cpu", "Zen"}, {"cores", 8}, {"memory_bytes", 8.0e9}, {"host", "a"}, {"kernel", "Linux 6"}}},
          {"build", {{"revision", "abc"}}},
          {"data", {{"fingerprint", "f00d"}}},
          {"cache", {{"state", "warm"}}},
          {"config", {{"batch", 32}, {"window", "100-399"}, {"storage", "tmpfs"}, {"precision", "o0"}}},
          {"samples_ms", {{"load", batches(ran.load_ms)}, {"forward", batches(ran.forward_ms)}}}};
}

// Nine runs that scatter by about 1 %.
std::vector<json> runs_of(Ran ran) {
  std::vector<json> records;
  const double forward = ran.forward_ms;
  for (ran.repeat = 0; ran.repeat < 9; ++ran.repeat) {
    ran.forward_ms = forward * (1 + 0.01 * std::sin(2.0 * ran.repeat));
    records.push_back(record_of(ran));
  }
  return records;
}

Comparison compare(const std::vector<json>& a, const std::vector<json>& b, const Noise& noise) {
  return compare(typed(a), typed(b), noise);
}

const RowComparison only(const Comparison& comparison) {
  if (comparison.rows.size() != 1) throw std::runtime_error("not one row");
  return comparison.rows[0];
}

TEST(Compare, SlowerFasterAndSame) {
  const std::vector<json> base = runs_of({});
  const RowComparison slower = only(compare(base, runs_of({.load_ms = 25, .forward_ms = 93}), {}));
  EXPECT_EQ(slower.verdict, RowVerdict::slower) << slower.reason;
  EXPECT_NEAR(slower.effect.ratio, 100.0 / 118, 0.01);
  ASSERT_EQ(slower.phases.size(), 2u);
  EXPECT_EQ(slower.phases[0].phase, "load");
  EXPECT_NEAR(slower.phases[0].share, 0.15, 0.005);
  EXPECT_NEAR(slower.phases[1].share, 0.03, 0.005);
  EXPECT_EQ(only(compare(base, runs_of({.load_ms = 2}), {})).verdict, RowVerdict::faster);
  EXPECT_EQ(only(compare(base, runs_of({.load_ms = 10.1}), {})).verdict, RowVerdict::same);
}

TEST(Compare, SureButSmallEffectsAreNoVerdict) {
  const RowComparison row = only(compare(runs_of({.forward_ms = 90}), runs_of({.forward_ms = 91}), {}));
  EXPECT_NE(row.verdict, RowVerdict::slower) << "1.1 % is under the margin of 2 %";
}

TEST(Compare, FewRunsDecideNothing) {
  const std::vector<json> one = {record_of({})}, other = {record_of({.load_ms = 60})};
  const RowComparison row = only(compare(one, other, {}));
  EXPECT_EQ(row.verdict, RowVerdict::undecided);
  EXPECT_NE(row.reason.find("--repeat 5"), std::string::npos) << row.reason;
  EXPECT_NEAR(row.effect.ratio, 100.0 / 150, 1e-9) << "the ratio is shown all the same";
}

TEST(Compare, OtherWorkIsRefusedAndNamed) {
  const std::vector<json> base = runs_of({});
  const auto refusal = [&](const char* pointer, json value) {
    std::vector<json> other = runs_of({.load_ms = 60});
    for (json& record : other) record[json::json_pointer(pointer)] = value;
    const Comparison comparison = compare(base, other, {});
    if (comparison.rows.empty()) return std::string("no row in common");
    EXPECT_EQ(comparison.rows[0].refused.empty(), comparison.rows[0].verdict != RowVerdict::no_verdict)
        << pointer;
    return comparison.rows[0].refused.empty() ? "" : comparison.rows[0].refused[0];
  };
  EXPECT_EQ(refusal("/config/batch", 64), "batch: 32 and 64");
  EXPECT_EQ(refusal("/config/window", "0-299"), "window: 100-399 and 0-299");
  EXPECT_EQ(refusal("/data/fingerprint", "beef"), "data set: f00d and beef");
  EXPECT_EQ(refusal("/cache/state", "cold"), "page cache: warm and cold");
  EXPECT_EQ(refusal("/config/phase_clock", false), "phase clock: true and false");
  EXPECT_EQ(refusal("/build/sanitize", "address"), "sanitizers: none and address");
  EXPECT_EQ(refusal("/scale/name", "article"), "no row in common");
  EXPECT_EQ(refusal("/config/precision", "bf16"), "") << "that is what may be compared";
}

TEST(Compare, ARowTracedOnAGpuIsRefused) {
  std::vector<json> plain = runs_of({}), traced = runs_of({});
  for (json& record : plain) record["device"]["kind"] = "cuda";
  for (json& record : traced)
    record["device"]["kind"] = "cuda", record["trace"] = {{"first", 1}, {"last", 3}};
  EXPECT_TRUE(only(compare(plain, plain, {})).refused.empty());
  for (const auto& [a, b] : {std::pair(plain, traced), std::pair(traced, plain), std::pair(traced, traced)})
    EXPECT_EQ(only(compare(a, b, {})).refused,
              (std::vector<std::string>{"traced; its rate is not comparable"}));
}

TEST(Compare, SaysWhatChangedAndWhatElseDiffers) {
  std::vector<json> other = runs_of({});
  for (json& record : other) {
    record["config"]["precision"] = "bf16";
    record["build"]["revision"] = "def";
  }
  const Comparison comparison = compare(runs_of({}), other, {});
  EXPECT_EQ(only(comparison).changed, std::vector<std::string>{"precision o0 -> bf16"});
  ASSERT_EQ(comparison.environment.size(), 1u);
  EXPECT_EQ(comparison.environment[0].what, "revision");
  EXPECT_FALSE(comparison.across_machines);
}

TEST(Compare, AcrossMachinesThereAreSpeedUpsAndNoVerdicts) {
  std::vector<json> other = runs_of({.load_ms = 60});
  for (json& record : other) record["machine"]["cores"] = 64;
  const Comparison comparison = compare(runs_of({}), other, {});
  EXPECT_TRUE(comparison.across_machines);
  EXPECT_EQ(only(comparison).verdict, RowVerdict::no_verdict);
  EXPECT_GT(only(comparison).effect.ratio, 0);
  EXPECT_TRUE(comparison_json(comparison)["rows"][0]["verdict"].is_null());
  other = runs_of({});
  for (json& record : other) record["machine"]["host"] = "b";
  EXPECT_FALSE(compare(runs_of({}), other, {}).across_machines) << "the same hardware under another name";
}

// A failed run doesn't know what its GPU is called.
TEST(Compare, AFailedRunIsOfNoOtherMachine) {
  std::vector<json> a = runs_of({}), b = runs_of({.load_ms = 60});
  for (auto* side : {&a, &b})
    for (json& record : *side) record["device"]["kind"] = "cuda";
  for (const char* status : {"SKIPPED", "CRASHED"}) {
    b.insert(b.begin(), b.front());
    b.front().update({{"row", status}, {"status", status}, {"device", {{"kind", "cuda"}}}});
  }
  const Comparison comparison = compare(a, b, {});
  EXPECT_FALSE(comparison.across_machines);
  EXPECT_EQ(only(comparison).verdict, RowVerdict::slower);
  EXPECT_EQ(comparison.exit_code(), base::kRegression);
  const Records& records = typed(b);
  EXPECT_EQ(machine_fingerprint(record_of_machine(records)), machine_fingerprint(records.back()));
  EXPECT_EQ(record_of_machine({records.front()}).status, "CRASHED") << "none is OK";
}

TEST(Compare, RowsWithoutPartnerOrFigureAreNamed) {
  std::vector<json> a = runs_of({}), b = runs_of({});
  a.push_back(record_of({.row = "8"}));
  b.push_back(record_of({.row = "9"}));
  a.push_back(record_of({.row = "10"}));
  b.push_back(record_of({.row = "10"}));
  b.back()["status"] = "HUNG";
  b.back()["reason"] = "rank 1 is silent";
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.only_in_a, std::vector<std::string>{"8"});
  EXPECT_EQ(comparison.only_in_b, std::vector<std::string>{"9"});
  ASSERT_EQ(comparison.rows.size(), 2u);
  EXPECT_EQ(comparison.rows[1].refused, std::vector<std::string>{"B has no figure: HUNG: rank 1 is silent"});
  EXPECT_EQ(comparison.compared(), 1u);
}

std::vector<json> side_of(const std::string& side, double drift, double forward_ms) {
  std::vector<json> records;
  for (int block = 0; block < 9; ++block) {
    records.push_back(record_of({.forward_ms = forward_ms * (1 + drift * block), .repeat = block}));
    records.back()["pair"] = {{"experiment", "x"}, {"block", block}, {"side", side}};
  }
  return records;
}

TEST(Compare, PairsOfAnExperimentCancelADriftOfTheMachine) {
  const auto a = side_of("A", 0.05, 90), b = side_of("B", 0.05, 95);
  const RowComparison row = only(compare(a, b, {}));
  EXPECT_TRUE(row.effect.paired);
  EXPECT_EQ(row.verdict, RowVerdict::slower) << "5 %, under a drift of 40 %";
  auto apart = b;
  for (json& record : apart) record.erase("pair");
  EXPECT_EQ(only(compare(a, apart, {})).verdict, RowVerdict::undecided);
}

TEST(Compare, ABlockWithoutItsOtherSideIsLeftOutOfThePairs) {
  auto a = side_of("A", 0, 90), b = side_of("B", 0, 90);
  b[3]["status"] = "CRASHED";
  const RowComparison row = only(compare(a, b, {}));
  EXPECT_EQ(row.effect.a, 8u);
  EXPECT_EQ(row.doubts, std::vector<std::string>{"B: 1 of 9 runs failed"});
}

TEST(Compare, ARowThatFailedInBIsNoSuccess) {
  auto a = runs_of({}), b = runs_of({});
  EXPECT_EQ(compare(a, b, {}).exit_code(), base::kAllGood);
  for (int repeat = 0; repeat < 2; ++repeat) {
    a.push_back(record_of({.row = "8", .repeat = repeat}));
    b.push_back(a.back());
    b.back()["status"] = "SKIPPED";
  }
  EXPECT_EQ(compare(a, b, {}).exit_code(), base::kAllGood);
  EXPECT_EQ(compare(b, a, {}).exit_code(), base::kAllGood);
  b.back()["status"] = b[b.size() - 2]["status"] = "CRASHED";
  EXPECT_EQ(compare(a, b, {}).exit_code(), base::kRowFailed);
  EXPECT_EQ(compare(b, a, {}).exit_code(), base::kAllGood) << "it runs again in B";
}

TEST(Noise, ComesFromPairsAndWidensTheMargin) {
  std::vector<json> records;
  for (int block = 0; block < 12; ++block)
    for (const char* side : {"A", "B"}) {
      const double noise = block % 3 * 0.06 * (side[0] == 'A' ? 1 : 0);
      records.push_back(record_of({.forward_ms = 90 * (1 + noise)}));
      records.back()["pair"] = {{"experiment", "aa"}, {"block", block}, {"side", side}};
    }
  const Noise noise = noise_of(typed(records));
  ASSERT_EQ(noise.scales.at("rehearsal").at("7").size(), 12u);
  const auto margin = [&](const char* row, size_t runs) { return noise.margin("rehearsal", row, runs); };
  EXPECT_GT(margin("7", 9), 0.02);
  EXPECT_GT(margin("7", 1), margin("7", 25)) << "more runs, less noise";
  EXPECT_EQ(margin("unknown", 9), margin("7", 9)) << "the largest that is known";
  EXPECT_EQ(noise.margin("article", "7", 9), kSmallestMargin) << "a scale tells nothing of another";
  EXPECT_EQ(Noise{}.margin("rehearsal", "7", 9), kSmallestMargin);
}

TEST(Noise, IsKeptPerMachineAndDamagedLinesAreNamed) {
  const TemporaryFolder folder;
  Noise noise;
  noise.machine = "AMD EPYC, 2 cores";
  noise.scales["smoke"]["7"] = {0.01, -0.02};
  append_noise(folder, noise);
  append_noise(folder, noise);
  {
    std::ofstream damage(folder / "AMD-EPYC-2-cores.jsonl", std::ios::app);
    damage << R"({"scales": {"smoke": {"7": [null]}}})" << '\n'
           << R"({"scales": {"smoke": {"7": []}}})"
           << "\n{\"pai";
  }
  std::ostringstream warnings;
  EXPECT_EQ(read_noise(folder, "AMD EPYC, 2 cores", warnings).scales.at("smoke").at("7").size(), 4u);
  EXPECT_NE(warnings.str().find("AMD-EPYC-2-cores.jsonl:3: "), std::string::npos) << warnings.str();
  EXPECT_NE(warnings.str().find(":4: "), std::string::npos);
  EXPECT_NE(warnings.str().find(":5: "), std::string::npos);
  EXPECT_TRUE(read_noise(folder, "another machine", warnings).empty());
}

}  // namespace harness::comparison_test
