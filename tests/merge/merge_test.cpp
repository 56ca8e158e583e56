// unit: the ranks' reports are merged into a record: samples by rank, slowest total, sums, checks of every
// rank
#include <gtest/gtest.h>

#include "tests/support/failure_of.h"
#include "tests/support/fake_report.h"
#include "tests/support/merged.h"

namespace bench::merge_test {

using nlohmann::json;

harness::Row small_row() {
  harness::Row row;
  row.warmup_batches = 2;
  row.timed_batches = 3;
  return row;
}

std::vector<json> reports_of(int ranks) {
  std::vector<json> reports;
  for (int rank = 0; rank < ranks; ++rank) reports.push_back(fake_report(small_row(), rank));
  return reports;
}

json merged(const std::vector<json>& reports) {
  std::vector<std::string> texts;
  for (const json& report : reports) texts.push_back(report.dump());
  harness::Record record = merged_texts(small_row(), std::move(texts));
  record.status = "OK";
  return to_json(record);
}

std::vector<std::string> check_lines(const json& record) {
  std::vector<std::string> lines;
  for (const json& check : record["checks"])
    lines.push_back((check["ok"].get<bool>() ? "" : "BAD ") + check["name"].get<std::string>() + ": " +
                    check["detail"].get<std::string>());
  return lines;
}

TEST(Merge, KeepsEverySampleByRank) {
  const std::vector<json> reports = reports_of(3);
  const json record = merged(reports);
  for (const char* key : {"samples_ms", "warmup_ms", "spans_ms"}) {
    EXPECT_EQ(record[key].size(), reports[0][key].size()) << key;
    for (const auto& [name, per_rank] : record[key].items()) {
      ASSERT_EQ(per_rank.size(), 3u) << name;
      for (size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(per_rank[rank], reports[rank][key][name]) << name;
    }
  }
  EXPECT_EQ(record["device_ms"], json::object());
}

TEST(Merge, TheSlowestRankCountsAndTheRestIsAddedUp) {
  std::vector<json> reports = reports_of(3);
  reports[1]["total_s"] = 30.5;
  reports[2]["correct"] = {{"top1", 4}, {"top5", 5}, {"images", 20}};
  reports[2]["bad_images"] = 2;
  reports[2]["warnings"] = {"a.jpg"};
  const json record = merged(reports);
  EXPECT_EQ(record["total_s"], 30.5);
  EXPECT_EQ(record["world_size"], 3);
  EXPECT_DOUBLE_EQ(record["top1"], 6.0 / 40);
  EXPECT_DOUBLE_EQ(record["top5"], 9.0 / 40);
  EXPECT_EQ(record["bad_images"], 2);
  EXPECT_EQ(record["warnings"], json({"a.jpg"}));
  EXPECT_EQ(record["cache"]["encoded_bytes"], 15000);
  EXPECT_EQ(record["cache"]["device_bytes"], 3000);
  EXPECT_EQ(record["cache"]["device_bytes_by_third"], (std::vector<int64_t>{900, 1200, 900}));
  EXPECT_EQ(record["ring"], json({{"depth", 4},
                                  {"buffer_bytes", {1 << 20, 1 << 20, 1 << 20}},
                                  {"ready_at_start", {4, 4, 4}},
                                  {"ready_at_end", {0, 0, 0}}}));
  EXPECT_EQ(record["rank_map"][2], reports[2]["place"]);
  EXPECT_GT(record["clock"]["ns_per_call"], 0.0);
}

TEST(Merge, DecodedImagesAreThoseOfAllRanksByDecoder) {
  std::vector<json> reports = reports_of(2);
  EXPECT_FALSE(merged(reports).contains("decoded"));
  reports[0]["decoded"] = {{"jpeg_engine", 90}, {"cuda", 8}, {"cpu", 2}};
  reports[1]["decoded"] = {{"jpeg_engine", 100}, {"cuda", 0}, {"cpu", 0}};
  EXPECT_EQ(merged(reports)["decoded"], json({{"jpeg_engine", 190}, {"cuda", 8}, {"cpu", 2}}));
}

TEST(Merge, CeilingsAreTheSlowestRanksAndPhasesTheMean) {
  std::vector<json> reports = reports_of(2);
  reports[1]["ceilings"] = {{"batches", 20},
                            {"loader_ms", 12.0},
                            {"read_ms", 60.0},
                            {"decode_ms", 60.0},
                            {"compute_ms", 4.0},
                            {"compute", {{"forward", 1.0}, {"backward", 2.0}, {"sync", 1.0}}},
                            {"loader_batch_ms", {11.0, 13.0}},
                            {"compute_batch_ms", {3.0, 5.0}}};
  reports[0]["ceilings"]["compute_batch_ms"] = {4.0, 6.0};
  EXPECT_EQ(merged(reports)["ceilings"],
            json({{"batches", 20},
                  {"loader_ms", 12.0},
                  {"read_share", 90.0 / 240},
                  {"compute_ms", 5.0},
                  {"loader_batch_ms", {11.0, 13.0}},
                  {"compute_batch_ms", {4.0, 6.0}},
                  {"compute", {{"forward", 1.5}, {"backward", 2.5}, {"sync", 0.5}}}}));
}

TEST(Merge, CeilingsThatWereNotMeasuredAreAbsent) {
  std::vector<json> reports = reports_of(2);
  for (json& report : reports)
    for (const char* key : {"loader_ms", "read_ms", "decode_ms"}) report["ceilings"].erase(key);
  const json record = merged(reports);
  EXPECT_FALSE(record["ceilings"].contains("loader_ms"));
  EXPECT_FALSE(record["ceilings"].contains("read_share"));
  EXPECT_EQ(record["ceilings"]["compute_ms"], 5.0);
  for (json& report : reports) report.erase("ceilings");
  EXPECT_FALSE(merged(reports).contains("ceilings"));
}

TEST(Merge, NotesOfSeveralRanksStandOnce) {
  std::vector<json> reports = reports_of(3);
  EXPECT_EQ(merged(reports)["notes"], json::array());
  reports[0]["notes"] = {"cores: a"};
  reports[2]["notes"] = {"cores: b", "cores: a"};
  EXPECT_EQ(merged(reports)["notes"], json({"cores: a", "cores: b"}));
}

TEST(Merge, SlowLinksAndUnlikeGpusAreNoted) {
  std::vector<json> reports = reports_of(2);
  const auto gpu = [](double generation, double width, double ecc) {
    return json({{"samples", 0},
                 {"devices",
                  {{{"driver", "580.1"},
                    {"figures",
                     {{"pcie_generation", generation},
                      {"pcie_max_generation", 5.0},
                      {"pcie_width", width},
                      {"pcie_max_width", 16.0},
                      {"ecc", ecc}}}}}}});
  };
  reports[0]["gpu"] = gpu(5, 16, 1);
  reports[1]["gpu"] = gpu(5, 16, 1);
  EXPECT_EQ(merged(reports)["notes"], json::array());
  EXPECT_EQ(merged(reports)["device"]["driver"], "580.1");
  reports[1]["gpu"] = gpu(4, 8, 0);
  EXPECT_EQ(merged(reports)["notes"], json({"pcie_generation: 4 under load, but GPU and slot are able to 5",
                                            "pcie_width: 8 under load, but GPU and slot are able to 16",
                                            "ecc: its GPUs differ in it"}));
  reports[1]["gpu"]["devices"][0] = {{"uuid", "GPU-2"}};
  EXPECT_EQ(merged(reports)["notes"], json({"ecc: its GPUs differ in it"})) << "one doesn't tell";
  reports[0]["gpu"].erase("devices");
  EXPECT_EQ(merged(reports)["notes"], json::array());
}

TEST(Merge, FactsOfGpusNameTheirRank) {
  std::vector<json> reports = reports_of(3);
  EXPECT_FALSE(merged(reports).contains("gpu"));
  EXPECT_FALSE(merged(reports).contains("trace"));
  reports[1]["gpu"] = {{"samples", 5}};
  reports[2]["gpu"] = {{"samples", 6}};
  reports[0]["trace"] = {{"gpu_busy_share", 0.5}};
  const json record = merged(reports);
  EXPECT_EQ(record["gpu"], json({{{"rank", 1}, {"samples", 5}}, {{"rank", 2}, {"samples", 6}}}));
  ASSERT_EQ(record["trace"]["ranks"].size(), 1u);
  EXPECT_EQ(record["trace"]["ranks"][0]["rank"], 0);
  EXPECT_EQ(record["trace"]["ranks"][0]["gpu_busy_share"], 0.5);
}

std::vector<double> begins_of(const json& timeline, int rank) {
  std::vector<double> begins;
  for (const json& event : timeline["events"])
    if (event["rank"] == rank) begins.push_back(event["begin_ms"]);
  return begins;
}

TEST(Merge, TimelinesOfOneMachineShareTheirClock) {
  std::vector<json> reports = reports_of(3);
  reports[0]["timeline"]["begin_ns"] = 1'002'500'000;  // the others began at 1'000'000'000
  reports[2].erase("timeline");                        // as of a rank beyond those that are drawn
  const json timeline = merged(reports)["timeline"];
  EXPECT_EQ(timeline["batch"], small_row().timed_batches - 1);
  EXPECT_EQ(timeline["clocks"], "one host");
  EXPECT_EQ(begins_of(timeline, 0), (std::vector<double>{2.5, 3.5, 4.5}));
  EXPECT_EQ(begins_of(timeline, 1), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(timeline["events"].size(), 6u);
}

TEST(Merge, TimelinesOfSeveralMachinesBeginAtZero) {
  std::vector<json> reports = reports_of(2);
  reports[0]["timeline"]["begin_ns"] = 77'000'000'000;
  reports[1]["timeline"]["machine"] = 2;
  const json timeline = merged(reports)["timeline"];
  EXPECT_EQ(timeline["clocks"], "each rank's own");
  for (int rank : {0, 1}) EXPECT_EQ(begins_of(timeline, rank), (std::vector<double>{0, 1, 2}));
}

TEST(Merge, DeviceBytesThatOneRankDoesNotKnowAreUnknown) {
  std::vector<json> reports = reports_of(2);
  reports[1]["cache"]["device_bytes"] = nullptr;
  EXPECT_TRUE(merged(reports)["cache"]["device_bytes"].is_null());
}

TEST(Merge, PassedChecksAreListedOnceAndFailedOnesNameTheirRank) {
  std::vector<json> reports = reports_of(3);
  reports[2]["checks"][1] = {{"name", "loss"}, {"ok", false}, {"detail", "not finite in batch 1"}};
  EXPECT_EQ(check_lines(merged(reports)),
            (std::vector<std::string>{"gradients: rank 0: fine", "loss: rank 0: fine", "cache: rank 0: fine",
                                      "BAD loss: rank 2: not finite in batch 1",
                                      "weights: equal on all ranks after the slice"}));
  EXPECT_EQ(check_lines(merged(reports_of(1))),
            (std::vector<std::string>{"gradients: fine", "loss: fine", "cache: fine"}));
}

TEST(Merge, RanksThatEndWithOtherWeightsFail) {
  std::vector<json> reports = reports_of(3);
  reports[1]["weights"] = "fedcba9876543210";
  EXPECT_EQ(check_lines(merged(reports)).back(), "BAD weights: ranks ended with different weights");
}

TEST(Merge, LossIsTheMeanOverRanksAndNoNumberWhereOneHasNone) {
  std::vector<json> reports = reports_of(2);
  reports[0]["loss"] = {1.0, 2.0, 3.0};
  reports[1]["loss"] = {2.0, nullptr, 5.0};
  const json record = merged(reports);
  EXPECT_EQ(record["loss"][0], 1.5);
  EXPECT_TRUE(std::isnan(record["loss"][1].get<double>()));
  EXPECT_EQ(record["loss"][2], 4.0);
  EXPECT_EQ(json::parse(record.dump())["loss"][1], nullptr) << "JSON has no NaN";
}

std::string slice_of(const std::vector<json>& reports) {
  std::vector<std::string> texts;
  for (const json& report : reports) texts.push_back(report.dump());
  return harness::slice_text({}, std::move(texts));
}

// The message about a row of three ranks whose slice.jsonl has this text.
std::string refusal(const std::string& text) {
  return failure_of([&] {
    std::istringstream slice(text);
    harness::merge_reports(small_row(), 3, slice);
  });
}

TEST(Merge, AReportThatIsDamagedIncompleteOrOfAnotherRankIsNamedByItsLine) {
  ASSERT_EQ(refusal(slice_of(reports_of(3))), "");
  std::vector<json> reports = reports_of(3);
  reports[1].erase("loss");
  EXPECT_SAYS(refusal(slice_of(reports)), "line 3: `loss` is missing: expected per timed batch");
  reports = reports_of(3);
  reports[2]["loss"].push_back(1.0);
  EXPECT_SAYS(refusal(slice_of(reports)), "line 4: `loss`: expected 3 batches, as of rank 0, found 4");
  reports = reports_of(3);
  reports[0].erase("traffic");
  EXPECT_SAYS(refusal(slice_of(reports)), "line 2: `traffic` is missing");
  reports = reports_of(3);
  std::swap(reports[1], reports[2]);
  EXPECT_SAYS(refusal(slice_of(reports)),
              "line 3: `place.rank`: expected 1, as the reports are in rank order, found 2");
  reports[1] = std::string(60, 'x');
  EXPECT_SAYS(refusal(slice_of(reports)), "line 3: ``: expected an object");
  std::string text = slice_of(reports_of(3));
  EXPECT_SAYS(refusal(text.substr(0, text.size() - 10)), "line 4: the JSON is cut off");
  EXPECT_SAYS(refusal("{}\n"), "line 1: `device` is missing");
  EXPECT_SAYS(refusal(std::string(5000, '[')), "line 1: JSON nested deeper");
}

TEST(Merge, ReportsThatAreMissingOrTooManyAreCounted) {
  EXPECT_SAYS(refusal(""), "expected 4 lines, the facts of all ranks and the report of each, found 0");
  EXPECT_SAYS(refusal(slice_of(reports_of(2))), "found 3");
  EXPECT_SAYS(refusal(slice_of(reports_of(4))), "found 5");
}

TEST(Merge, FactsOfAllRanksAreInTheRecord) {
  harness::SliceFacts facts;
  facts.device.label = "3 CPU ranks";
  facts.device.settings = {{"threads", 1}};
  facts.precision.sixteen_bit = "bfloat16";
  facts.precision.computed_in = "float32";
  facts.clock_ns_per_call = 42;
  facts.versions = {{"libtorch", "2.11"}};
  std::istringstream slice(harness::slice_text(facts, {fake_report(small_row(), 0).dump()}));
  const harness::Record record = harness::merge_reports(small_row(), 1, slice);
  EXPECT_EQ(record.device.label, "3 CPU ranks");
  EXPECT_EQ(record.device.settings, json({{"threads", 1}}));
  EXPECT_EQ(record.precision.sixteen_bit, "bfloat16");
  EXPECT_EQ(record.precision.computed_in, "float32");
  EXPECT_EQ(record.clock->ns_per_call, 42);
  EXPECT_EQ(record.clock->calls, 12);
  EXPECT_EQ(record.versions, facts.versions);
}

TEST(Merge, WithoutPhaseClockThereAreSpansOnly) {
  std::vector<json> reports = reports_of(2);
  for (json& report : reports) {
    report.erase("timeline");
    report.erase("samples_ms");
    report.erase("warmup_ms");
  }
  const json record = merged(reports);
  EXPECT_EQ(record["samples_ms"], json::object());
  EXPECT_EQ(record["warmup_ms"], json::object());
  EXPECT_EQ(record["spans_ms"]["read"].size(), 2u);
  EXPECT_FALSE(record.contains("timeline"));
}

}  // namespace bench::merge_test
