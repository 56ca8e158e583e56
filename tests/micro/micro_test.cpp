// train: bench_micro from outside: its own options, exit codes and the revision in its JSON.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/scratch.h"
#include "tests/support/failure_of.h"
#include "tests/support/small_images.h"

namespace micro_test {

class Micro : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kProgram)) GTEST_SKIP() << "bench_micro wasn't built: no Google Benchmark";
  }
  static base::Finished run(const std::vector<std::string>& more, bool with_errors = true) {
    base::Command command{{kProgram}, {}, {}, {}, {}};
    command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    if (with_errors)
      command.errors_to_output = true;
    else
      command.errors = "/dev/null";
    return base::run_to_end(command);
  }
  static constexpr const char* kProgram = BINARY_DIR "/bench_micro";
};

TEST_F(Micro, WhatMeasuresNothingIsNoSuccess) {
  const auto without_data = run({"--data", "/nonexist", "--benchmark_filter=^read/"});
  EXPECT_EQ(without_data.exit_code, 2);
  EXPECT_SAYS(without_data.output, "--data /nonexist: expected a folder that contains train/");
  EXPECT_EQ(run({"--benchmark_filter=nothing_is_named_so"}).exit_code, 2);
}

TEST_F(Micro, ABenchmarkThatErrsIsNoSuccess) {
  const base::Scratch folder;
  base::make_folder(folder.path() / "train/a");
  bench::write_bytes(folder.path() / "train/a/one.jpg", bench::small_jpeg(64, 64, 1));
  const std::vector<std::string> read{"--data", folder.path(), "--benchmark_filter=^read/",
                                      "--benchmark_min_time=0.001"};
  const auto without_store = run(read);
  EXPECT_EQ(without_store.exit_code, 0) << without_store.output;
  EXPECT_SAYS(without_store.output,
              "packed storages are skipped: name a folder for their copies with --store");
  std::vector<std::string> no_folder = read;
  no_folder.insert(no_folder.end(), {"--store", "/proc"});
  const auto erred = run(no_folder);
  EXPECT_EQ(erred.exit_code, 1) << erred.output;
  EXPECT_SAYS(erred.output, "ERROR OCCURRED");
}

TEST_F(Micro, HelpNamesItsOwnOptionsToo) {
  const auto help = run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option :
       {"--data", "--store", "--ranks", "--interface", "over NCCL", "--benchmark_filter"})
    EXPECT_SAYS(help.output, option);
}

TEST_F(Micro, JsonSaysWhichRevisionWasMeasured) {
  const auto clock = run({"--benchmark_filter=phase_clock", "--benchmark_format=json"}, false);
  EXPECT_EQ(clock.exit_code, 0);
  const auto json = nlohmann::json::parse(clock.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << clock.output;
  EXPECT_NE(json["context"].value("revision", ""), "") << json["context"];
}

}  // namespace micro_test
