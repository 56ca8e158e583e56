// What the tests of faults share: a run_matrix whose processes, namespaces and folders they find again.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/contract/progress.h"
#include "tests/support/failure_of.h"
#include "tests/support/outcome.h"
#include "tests/support/scratch_of.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/until_it_trains.h"

namespace launch_faults {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

class LaunchFaults : public testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::cerr << content_of(directory / "out") << content_of(directory / "err");
    (void)!::system(("umount " + (directory / "run").string() + " 2> /dev/null").c_str());  // of one test
  }

  pid_t start_marked(const Words& words, std::map<std::string, std::string> environment = {}) {
    environment.insert({{"LAUNCH_FAULTS", directory}, {"RUN_MATRIX_PLOTS", "specs"}});
    return running = base::start({words, environment, {}, directory / "out", directory / "err"});
  }
  Words matrix(const std::string& only, const Words& more, const char* run = "run") const {
    Words words = {BINARY_DIR "/run_matrix", "--device", "cpu", "--scale", "smoke", "--only", only, "--out",
                   directory / run};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  pid_t start_matrix(const std::string& only, const Words& more, const char* run = "run") {
    return start_marked(matrix(only, more, run));
  }
  // Long enough to be interrupted, and without files.
  pid_t start_long(const std::string& only, Words more = {}) {
    more.insert(more.end(), {"--set", "storage=synthetic", "--set", "timed_batches=100000"});
    const pid_t pid = start_matrix(only, more);
    row_folder = directory / "run" / "rows" / (only + "-repeat0");
    return pid;
  }
  // The process of a rank, once all ranks train.
  pid_t training_rank(int rank) const {
    wait_until_it_trains(running, row_folder);
    harness::Progress progress(row_folder / "progress", 0);
    return harness::pid_here(progress.slot(rank));
  }
  json record() {
    std::ifstream stream(directory / "run" / "records.jsonl");
    std::string line;
    std::getline(stream, line);
    return json::parse(line, nullptr, false);
  }
  // Lists all processes that a run_matrix of this test started (including holders of namespaces), and its
  // scratch folder, if they outlive it by more than five seconds. A network namespace exists as long as its
  // processes.
  std::string left_behind(pid_t run_matrix) {
    const std::string mark = "LAUNCH_FAULTS=" + directory.string();
    std::string left;
    for (int i = 0; i < 50; ++i) {
      left.clear();
      std::error_code error;
      for (const auto& entry : fs::directory_iterator("/proc", error))
        if (content_of(entry.path() / "environ").find(mark) != std::string::npos)
          left += content_of(entry.path() / "cmdline") + '\n';
      if (const fs::path scratch = scratch_of(run_matrix); !scratch.empty()) left += scratch.string() + '\n';
      if (left.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::replace(left.begin(), left.end(), '\0', ' ');
    return left;
  }

  const TemporaryFolder folder;
  const fs::path directory = folder;
  fs::path row_folder;
  pid_t running = 0;  // the run_matrix that was started last
};

}  // namespace launch_faults
