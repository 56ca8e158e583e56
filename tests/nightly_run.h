// The program run_matrix and a history in a folder of its own, with a fake train_slice: a night takes a
// second.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/base/child_process.h"
#include "harness/nightly/history.h"

class NightlyRun : public testing::Test {
 protected:
  using Environment = std::map<std::string, std::string>;
  using Words = std::vector<std::string>;

  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("nightly_" + std::to_string(::getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override {
    if (HasFailure()) std::cerr << output() << errors();
    std::filesystem::remove_all(folder);
  }

  pid_t start(Words words, Environment environment = {}) {
    words.insert(words.begin(), BINARY_DIR "/run_matrix");
    environment["RUN_MATRIX_WORKER"] = BINARY_DIR "/tests/fake_slice";
    environment["RUN_MATRIX_RESULTS"] = results();
    environment["RUN_MATRIX_PLOTS"] = "specs";
    return base::start({words, environment, {}, folder / "out", folder / "err"});
  }
  static int exit_code_of(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int run(const Words& words, const Environment& environment = {}) {
    return exit_code_of(start(words, environment));
  }
  static Words nightly(Words more = {"--no-report"}) {
    Words words = {"nightly", "--scale", "smoke", "--only", "0,1", "--set", "storage=synthetic"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  static std::string text(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string output() const { return text(folder / "out"); }
  std::string errors() const { return text(folder / "err"); }
  bool says(const std::string& words) const { return (output() + errors()).find(words) != std::string::npos; }

  std::filesystem::path results() const { return folder / "results"; }
  std::filesystem::path history_folder() const { return results() / "history"; }
  std::vector<harness::Night> nights() const {
    std::ostringstream warnings;
    return harness::History(history_folder(), warnings).read_all();
  }

  std::filesystem::path folder;
};
