// net: bench_micro --ranks: every collective over every carrier between real processes, with and without MPI,
// ranks that die, and bad options.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/listener.h"
#include "harness/base/scratch.h"
#include "harness/emulate/two_nodes.h"
#include "tests/support/failure_of.h"

namespace collectives_test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

class Collectives : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kProgram)) GTEST_SKIP() << "bench_micro wasn't built: no Google Benchmark";
  }
  static nlohmann::json measure(const std::string& filter, const Words& more, Environment environment = {}) {
    Words words = {kProgram, "--benchmark_filter=" + filter, "--benchmark_format=json",
                   "--benchmark_repetitions=1", "--benchmark_min_time=0.001"};
    words.insert(words.end(), more.begin(), more.end());
    const auto finished = base::run_to_end({words, std::move(environment), {}, {}, "/dev/null"});
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    return nlohmann::json::parse(finished.output).at("benchmarks");
  }
  // Checks what three ranks have measured, and returns the names without their sizes.
  static std::set<std::string> names_of(const nlohmann::json& measured) {
    std::set<std::string> names;
    for (const auto& one : measured) {
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
    return names;
  }
  static std::set<std::string> each_over(const std::vector<std::string>& carriers) {
    std::set<std::string> names;
    for (const std::string operation : {"all_reduce", "broadcast", "reduce", "point_to_point"})
      for (const std::string& carrier : carriers) names.insert(operation + "/" + carrier);
    return names;
  }
  static void expect_link_noticed(const nlohmann::json& measured, size_t carriers) {
    ASSERT_EQ(measured.size(), carriers);
    for (const auto& one : measured) {
      EXPECT_GT(one.at("wire_ratio"), 1.0) << one;
      EXPECT_LT(one.at("wire_ratio"), 1.5) << one;
    }
  }
  static base::Finished run(const Words& options, Environment environment = {},
                            const char* program = kProgram) {
    base::Command command{{program}, std::move(environment), {}, {}, {}};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    command.errors_to_output = true;
    return base::run_to_end(command);
  }
  static constexpr const char* kProgram = BINARY_DIR "/bench_micro";
};

// A folder with links to all programs in PATH except mpirun.
class PathWithoutMpirun {
 public:
  PathWithoutMpirun() {
    std::istringstream folders(std::getenv("PATH"));
    std::error_code error;
    for (std::string folder; std::getline(folders, folder, ':');)
      for (const auto& program : fs::directory_iterator(folder, error))
        if (program.path().filename() != "mpirun")
          fs::create_symlink(program.path(), folder_.path() / program.path().filename(), error);
  }
  Environment environment() const { return {{"PATH", folder_.path()}}; }

 private:
  const base::Scratch folder_;
};

TEST_F(Collectives, GiveTheRightResultOverEveryCarrier) {
  if (!base::program_exists("mpirun")) GTEST_SKIP() << "there is no mpirun";
  EXPECT_EQ(names_of(measure("bytes:1024/", {"--ranks", "3"})),
            each_over({"mpi", "posted_mpi", "bare_mpi", "gloo"}));
}

TEST_F(Collectives, NeedNoMpi) {
  EXPECT_EQ(names_of(measure("bytes:1024/", {"--ranks", "3"}, {{"PATH", "/nowhere"}})), each_over({"gloo"}));
  const auto told = run({"--ranks", "2", "--benchmark_filter=none_is_named_so"}, {{"PATH", "/nowhere"}});
  EXPECT_SAYS(told.output, "mpi is left out: ");
  EXPECT_EQ(told.exit_code, 2) << "nothing was measured";
}

TEST_F(Collectives, NoticeTheLinkBetweenTwoNodes) {
  if (const auto& reason = harness::why_no_two_nodes(); !reason.empty()) GTEST_SKIP() << reason;
  // 8 MiB then take 0.7 s, beside which it doesn't show that other tests use the cores.
  const Words nodes = {"--ranks", "2", "--nodes", "2", "--link-rate-mbit", "100"};
  if (base::program_exists("mpirun"))
    expect_link_noticed(measure("all_reduce/(mpi|gloo)/bytes:8388608/", nodes), 2);
  expect_link_noticed(measure("all_reduce/gloo/bytes:8388608/", nodes, PathWithoutMpirun().environment()), 1);
}

// The process with these words in its environment, once it has its own; 0: none within 30 s.
pid_t process_with(const std::set<std::string>& wanted) {
  for (int i = 0; i < 600; ++i) {
    std::error_code error;
    for (const auto& process : fs::directory_iterator("/proc", error)) {
      std::ifstream environment(process.path() / "environ");
      std::set<std::string> found;
      for (std::string variable; std::getline(environment, variable, '\0');)
        if (wanted.count(variable)) found.insert(variable);
      if (found == wanted) return std::stoi(process.path().filename());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return 0;
}

TEST_F(Collectives, ARankThatDiesEndsTheOthers) {
  const base::Scratch folder;
  const std::string mark = "COLLECTIVES_TEST=" + folder.path().string();
  const fs::path errors = folder.path() / "errors";
  for (const int victim : {1, 0}) {
    const pid_t parent = base::start(
        {{kProgram, "--ranks", "3", "--benchmark_filter=all_reduce/gloo", "--benchmark_repetitions=1000000"},
         {{"COLLECTIVES_TEST", folder.path()}, {"PATH", "/nowhere"}},
         {},
         "/dev/null",
         errors});
    const pid_t rank = process_with({mark, "RANK=" + std::to_string(victim)});
    ASSERT_NE(rank, 0);
    if (victim == 0)  // while they measure; the other one while they start
      for (int i = 0; i < 600 && base::read_file(errors).find("Run on (") == std::string::npos; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::kill(rank, SIGKILL);
    int status = 0;
    ::waitpid(parent, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 128 + SIGKILL);
    EXPECT_SAYS(base::read_file(errors),
                "rank " + std::to_string(victim) + " was ended by signal 9 (Killed), which ends the others");
    for (const auto& process : fs::directory_iterator("/proc")) {
      std::ifstream environment(process.path() / "environ");
      const std::string all{std::istreambuf_iterator<char>(environment), {}};
      EXPECT_EQ(all.find(mark), all.npos) << process.path() << " is left";
    }
  }
}

TEST_F(Collectives, ARankThatFailsSaysWhy) {
  const auto finished = run({"--ranks", "2", "--interface", "no-such-one"}, {{"PATH", "/nowhere"}});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_SAYS(finished.output, "no network interface 'no-such-one'; name one with --interface");
  EXPECT_SAYS(finished.output, "ended with exit code 2, which ends the others");
}

TEST_F(Collectives, RanksOfAnotherLauncherNeedAFreePort) {
  const Environment rank = {{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  EXPECT_SAYS(run({}, rank).output, "rank 0: MASTER_PORT is not set");
  const base::Listener taken(0, false);
  Environment there = rank;
  there["MASTER_PORT"] = std::to_string(taken.port());
  const auto finished = run({}, there);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_SAYS(finished.output, "can't listen on port " + there["MASTER_PORT"]);
  EXPECT_SAYS(finished.output, "MASTER_PORT)");
  EXPECT_SAYS(run({"--ranks", "2"}, rank).output, "--ranks starts processes");
}

TEST_F(Collectives, GpusThatAreTooFewAreNamed) {
  const char* const program = BINARY_DIR "/bench_micro_cuda";
  if (!fs::exists(program)) GTEST_SKIP() << "bench_micro_cuda wasn't built";
  const auto finished = run({"--ranks", "2", "--benchmark_filter=nccl"},
                            {{"PATH", "/nowhere"}, {"CUDA_VISIBLE_DEVICES", ""}}, program);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_SAYS(finished.output, "nccl is left out: 2 ranks on a node with 0 GPUs");
}

TEST_F(Collectives, RefuseBadOptions) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--ranks", "0"}, "--ranks: 0: expected a number from 2 to 1024"},
      {{"--ranks", "abc"}, "--ranks: abc"},
      {{"--ranks"}, "--ranks"},
      {{"--ranks", "3", "--nodes", "2"}, "--ranks 3"},
      {{"--ranks", "4", "--nodes", "3"}, "--nodes: 3"},
      {{"--nodes", "2"}, "--nodes 2"},
      {{"--ranks", "2", "--link-rate-mbit", "100"}, "--link-rate-mbit"},
      {{"--ranks", "2", "--nodes", "2", "--link-rate-mbit", "nan"}, "--link-rate-mbit: nan"},
  };
  for (const auto& [options, named] : cases) {
    const auto finished = run(options);
    EXPECT_EQ(finished.exit_code, 2) << named;
    EXPECT_SAYS(finished.output, named);
  }
}

}  // namespace collectives_test
