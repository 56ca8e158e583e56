// Runs the program run_matrix with a fake train_slice and a separate results folder.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/base/child_process.h"
#include "tests/support/failure_of.h"
#include "tests/support/outcome.h"
#include "tests/support/temporary_folder.h"

namespace harness {

namespace fs = std::filesystem;
using nlohmann::json;

class Program : public testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::cerr << output() << errors();
  }

  base::Command command(std::vector<std::string> arguments,
                        std::map<std::string, std::string> environment = {}) {
    arguments.insert(arguments.begin(), {BINARY_DIR "/run_matrix"});
    environment["RUN_MATRIX_WORKER"] = BINARY_DIR "/tests/fake_slice";
    environment["RUN_MATRIX_RESULTS"] = directory / "results";
    environment.emplace("RUN_MATRIX_PLOTS", "specs");
    return {arguments, environment, {}, directory / "out", directory / "err"};
  }
  int run(const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& environment = {}) {
    return exit_code_of(start(command(arguments, environment)));
  }
  // The same after the program before was killed: processes that it was just starting hold its lock for a
  // moment.
  int run_after_kill(const std::vector<std::string>& arguments) {
    int code = run(arguments);
    for (int i = 0; i < 100 && code == 2 && (says("another nightly is running") || says("is still writing"));
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      code = run(arguments);
    }
    return code;
  }
  // Rows at scale smoke, recorded in `folder`.
  int smoke_in(const std::string& folder, const std::string& only, const std::string& behaviour = "",
               std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--scale", "smoke", "--only", only, "--out", directory / folder});
    return run(more, {{"FAKE_SLICE", behaviour}});
  }

  // For rows that read no image: stand-in images of a scale's number would take minutes under a sanitizer.
  void write_files_that_are_no_images() {
    fs::create_directories(directory / "data/train/a");
    for (const char* name : {"0.JPEG", "1.JPEG", "2.JPEG", "3.JPEG"})
      std::ofstream(directory / "data/train/a" / name) << "no image";
  }

  std::string output() const { return content_of(directory / "out"); }
  std::string errors() const { return content_of(directory / "err"); }
  bool says(const std::string& words) const { return (output() + errors()).find(words) != std::string::npos; }
  std::vector<json> records_in(const std::string& folder) {
    std::vector<json> all;
    std::ifstream stream(directory / folder / "records.jsonl");
    for (std::string line; std::getline(stream, line);) all.push_back(json::parse(line));
    return all;
  }
  void write_records(const std::string& folder, const std::vector<json>& all) {
    std::ofstream stream(directory / folder / "records.jsonl");
    for (const json& record : all) stream << record << '\n';
  }

  const TemporaryFolder directory;
};

}  // namespace harness
