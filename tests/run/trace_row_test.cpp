// net: real rows with --trace and --wrap: the trace's content for every rank, and the record.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/child_process.h"
#include "harness/stats/provenance.h"
#include "tests/support/failure_of.h"
#include "tests/support/outcome.h"
#include "tests/support/temporary_folder.h"

namespace trace_row_test {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

class TraceRow : public testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::cerr << content_of(directory / "err");
  }
  json record_of(const std::string& row, const Words& more, const std::string& device = "cpu") {
    Words words = {BINARY_DIR "/run_matrix", "--scale",  "smoke", "--only", row, "--out",
                   directory / "run",        "--device", device};
    for (const char* setting : {"storage=synthetic", "ceiling_batches=0"})
      words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), more.begin(), more.end());
    exit_code = exit_code_of(
        base::start({words, {{"RUN_MATRIX_PLOTS", "specs"}}, {}, directory / "out", directory / "err"}));
    return json::parse(content_of(directory / "run" / "records.jsonl"), nullptr, false);
  }
  const TemporaryFolder folder;
  const fs::path directory = folder;
  int exit_code = -1;
};

// Names of the events of each rank in a category.
std::map<int64_t, std::multiset<std::string>> names_in(const json& trace, const std::string& category) {
  std::map<int64_t, std::multiset<std::string>> names;
  for (const json& event : trace.at("traceEvents"))
    if (event.value("cat", "") == category) names[event.at("pid").get<int64_t>()].insert(event.at("name"));
  return names;
}

TEST_F(TraceRow, HoldsPhasesCollectivesAndOperatorsOfEveryRank) {
  const json record = record_of("14", {"--trace", "4-5", "--set", "backend=gloo", "--devices", "2"});
  ASSERT_EQ(exit_code, 0);
  EXPECT_EQ(record["trace"], json({{"first", 4}, {"last", 5}, {"file", "rows/14-repeat0/trace.json"}}));
  EXPECT_SAYS(record["notes"].dump(), "batches 4-5 were traced");
  const json trace = json::parse(content_of(directory / "run" / "rows/14-repeat0/trace.json"));
  for (int64_t rank : {0, 1}) {
    EXPECT_EQ(names_in(trace, "batches")[rank], (std::multiset<std::string>{"batch 4", "batch 5"}));
    for (const char* phase : {"load", "forward", "backward", "sync", "step"})
      EXPECT_GE(names_in(trace, "phases")[rank].count(phase), 2u) << phase << " of rank " << rank;
    EXPECT_GT(names_in(trace, "collectives")[rank].count("all_reduce"), 0u);
    EXPECT_EQ(names_in(trace, "user_annotation")[rank].count("sync_bn/bn1"), 2u);
    EXPECT_GT(names_in(trace, "cpu_op")[rank].count("aten::convolution_backward"), 0u);
    EXPECT_EQ(names_in(trace, "cpu_op")[rank].count("aten::cross_entropy_loss"), 2u) << "one for each batch";
  }
}

// The profiler and the ranks use different clocks.
TEST_F(TraceRow, OperatorsLieInsideTheirPhases) {
  record_of("0", {"--trace", "0-1", "--set", "warmup_batches=0"});
  ASSERT_EQ(exit_code, 0);
  const json trace = json::parse(content_of(directory / "run" / "rows/0-repeat0/trace.json"));
  std::vector<std::pair<double, double>> losses;
  int inside = 0, operators = 0;
  for (const json& event : trace["traceEvents"])
    if (event["name"] == "loss")
      losses.emplace_back(event["ts"], event["ts"].get<double>() + event["dur"].get<double>());
  ASSERT_EQ(losses.size(), 2u);
  constexpr double kSlack = 50;  // microseconds
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] != "aten::cross_entropy_loss") continue;
    ++operators;
    for (const auto& [begin, end] : losses)
      inside += event["ts"].get<double>() > begin - kSlack &&
                event["ts"].get<double>() + event["dur"].get<double>() < end + kSlack;
  }
  EXPECT_EQ(operators, 2);
  EXPECT_EQ(inside, 2);
}

TEST_F(TraceRow, OnAGpuTellsHowBusyItWas) {
  if (!base::program_exists("nvidia-smi") || std::system("nvidia-smi >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no NVIDIA GPU";
  const json record = record_of("0", {"--trace", "4-5", "--set", "gpu_sampling_ms=20"}, "cuda");
  ASSERT_EQ(exit_code, 0) << record;
  ASSERT_EQ(record["trace"].value("ranks", json::array()).size(), 1u) << record["trace"];
  const json gpu = record["trace"]["ranks"][0];
  EXPECT_GT(gpu["gpu_kernel_share"].get<double>(), 0.0) << gpu;
  EXPECT_LE(gpu["gpu_kernel_share"], gpu["gpu_busy_share"]) << gpu;
  EXPECT_LE(gpu["gpu_busy_share"].get<double>(), 1.0) << gpu;
  EXPECT_EQ(gpu["host_waits_per_batch"].get<double>(), 2.0)
      << "for loss and accuracy, and for a copied batch";
  const json trace = json::parse(content_of(directory / "run" / "rows/0-repeat0/trace.json"));
  EXPECT_FALSE(names_in(trace, "kernel").empty());
  EXPECT_EQ(names_in(trace, "kernel").count(0), 0u) << "a GPU is no rank";
  ASSERT_EQ(record["gpu"].size(), 1u) << record["gpu"];
  EXPECT_EQ(record["gpu"][0]["rank"], 0);
}

TEST_F(TraceRow, RowsWithoutItHaveNone) {
  const json record = record_of("0", {});
  EXPECT_FALSE(record.contains("trace"));
  EXPECT_FALSE(fs::exists(directory / "run" / "rows/0-repeat0/trace.json"));
}

TEST_F(TraceRow, OneRankRunsUnderTheWrapper) {
  const fs::path script = directory / "wrapper";
  std::ofstream(script) << "#!/bin/sh\nout=$1; shift\necho \"$RANK ran $#\" > \"$out\"\n\"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  const json record = record_of(
      "12", {"--set", "backend=gloo", "--wrap", script.string() + " 'its file'", "--wrap-rank", "1"});
  ASSERT_EQ(exit_code, 0);
  EXPECT_EQ(record["status"], "OK");
  EXPECT_SAYS(record["notes"].dump(), "rank 1 ran under: ");
  EXPECT_EQ(record["wrap"]["rank"], 1);
  EXPECT_EQ(harness::doubts(harness::record_from_json(record)).at(0).rfind("ran under " + script.string(), 0),
            0u);
  EXPECT_EQ(content_of(directory / "run" / "rows/12-repeat0/its file"), "1 ran 3\n")
      << "train_slice --job FILE";
}

TEST_F(TraceRow, OneRankOfMpirunRunsUnderTheWrapper) {
  if (!base::program_exists("mpirun")) GTEST_SKIP() << "no mpirun";
  const json record = record_of("12", {"--wrap", "env WRAPPED=\"$((1 + 1))\"", "--wrap-rank", "3"});
  ASSERT_EQ(exit_code, 0) << record;
  fs::remove_all(directory / "run");
  EXPECT_EQ(record_of("12", {"--wrap", "no-such-program -x"})["status"], "CRASHED");
}

}  // namespace trace_row_test
