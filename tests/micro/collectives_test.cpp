// net: bench_micro --ranks: every collective over every carrier between real processes, and bad options.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/child_process.h"
#include "harness/emulate/two_nodes.h"

namespace collectives_test {

using Words = std::vector<std::string>;

class Collectives : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kProgram)) GTEST_SKIP() << "bench_micro wasn't built: no Google Benchmark";
    if (!base::program_exists("mpirun")) GTEST_SKIP() << "there is no mpirun";
  }
  static nlohmann::json measure(const std::string& filter, const Words& more) {
    Words words = {kProgram, "--benchmark_filter=" + filter, "--benchmark_format=json",
                   "--benchmark_repetitions=1", "--benchmark_min_time=0.001"};
    words.insert(words.end(), more.begin(), more.end());
    const auto finished = base::run_to_end({words, {}, {}, {}, "/dev/null"});
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    return nlohmann::json::parse(finished.output).at("benchmarks");
  }
  static constexpr const char* kProgram = BINARY_DIR "/bench_micro";
};

TEST_F(Collectives, GiveTheRightResultOverEveryCarrier) {
  std::set<std::string> names;
  for (const auto& one : measure("bytes:1024/", {"--ranks", "3"})) {
    EXPECT_FALSE(one.contains("error_message")) << one;
    EXPECT_EQ(one.at("ranks"), 3);
    const std::string name = one.at("name");
    const double factor = name.rfind("all_reduce", 0) == 0 ? 4.0 / 3 : 1;
    EXPECT_NEAR(one.at("bus_bandwidth").get<double>() / one.at("algorithm_bandwidth").get<double>(), factor,
                1e-9);
    EXPECT_EQ(one.contains("over_bare"),
              name.find("/mpi/") != name.npos || name.find("/posted_mpi/") != name.npos);
    names.insert(name.substr(0, name.find("/bytes:")));
  }
  for (const std::string operation : {"all_reduce", "broadcast", "reduce", "point_to_point"})
    for (const std::string carrier : {"mpi", "posted_mpi", "bare_mpi", "gloo"})
      EXPECT_TRUE(names.count(operation + "/" + carrier)) << operation << " over " << carrier;
}

TEST_F(Collectives, NoticeTheLinkBetweenTwoNodes) {
  if (const auto& reason = harness::why_no_two_nodes(); !reason.empty()) GTEST_SKIP() << reason;
  const auto measured = measure("all_reduce/(mpi|gloo)/bytes:8388608/",
                                {"--ranks", "2", "--nodes", "2", "--link-rate-mbit", "1000"});
  ASSERT_EQ(measured.size(), 2u);
  for (const auto& one : measured) {
    EXPECT_GT(one.at("wire_ratio"), 1.0) << one;
    EXPECT_LT(one.at("wire_ratio"), 1.5) << one;
  }
}

TEST_F(Collectives, RefuseBadOptions) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--ranks", "0"}, "--ranks 0"},
      {{"--ranks", "abc"}, "--ranks abc"},
      {{"--ranks"}, "--ranks"},
      {{"--ranks", "3", "--nodes", "2"}, "--ranks 3"},
      {{"--ranks", "4", "--nodes", "3"}, "--nodes 3"},
      {{"--nodes", "2"}, "--nodes 2"},
      {{"--ranks", "2", "--link-rate-mbit", "100"}, "--link-rate-mbit"},
      {{"--ranks", "2", "--nodes", "2", "--link-rate-mbit", "nan"}, "--link-rate-mbit nan"},
  };
  for (const auto& [options, named] : cases) {
    base::Command command{{kProgram}, {}, {}, {}, {}};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    command.errors_to_output = true;
    const auto finished = base::run_to_end(command);
    EXPECT_EQ(finished.exit_code, 2) << named;
    EXPECT_NE(finished.output.find(named), std::string::npos) << finished.output;
  }
  base::Command without_mpirun{{kProgram, "--ranks", "2"}, {{"PATH", "/nowhere"}}, {}, {}, {}};
  without_mpirun.errors_to_output = true;
  const auto finished = base::run_to_end(without_mpirun);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.output.find("mpirun"), std::string::npos) << finished.output;
}

}  // namespace collectives_test
