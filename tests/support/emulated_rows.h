// Runs run_matrix on emulated devices at scale `emulated`, with records in a folder of its own.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/scratch.h"
#include "harness/stats/records.h"
#include "tests/support/failure_of.h"

namespace harness {

namespace fs = std::filesystem;

class EmulatedRows : public testing::Test {
 protected:
  int run(const std::string& device, const std::vector<std::string>& words) {
    base::Command command;
    command.arguments = {BINARY_DIR "/run_matrix", "--scale", "emulated", "--device", device};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment = {{"RUN_MATRIX_PLOTS", "specs"}, {"RUN_MATRIX_RESULTS", folder_.path() / "results"}};
    command.output = folder_.path() / "out";
    command.errors = folder_.path() / "err";
    return base::run_to_end(command).exit_code;
  }
  // Records of the article's rows with images that cost no reading, as `words` set them; `out`: their folder.
  Records rows(const std::string& only, const std::vector<std::string>& words,
               const std::string& out = "run") {
    std::vector<std::string> all = {"--only", only, "--out", folder_.path() / out};
    for (const char* setting : {"storage=synthetic", "cache=as_is", "ceiling_batches=0"})
      all.insert(all.end(), {"--set", setting});
    for (const std::string& setting : words) all.insert(all.end(), {"--set", setting});
    EXPECT_EQ(run("emulated", all), 0) << said() << base::read_file(folder_.path() / "out");
    return read_records(folder_.path() / out, std::cerr);
  }
  std::string said() const { return base::read_file(folder_.path() / "err"); }
  static double mean_ms(const Record& record, const std::string& phase) {
    return mean_ms(record.device_ms, phase);
  }
  static double mean_ms(const Samples& samples, const std::string& name) {
    double sum = 0, count = 0;
    for (const auto& rank : samples.at(name))
      for (const double ms : rank) sum += ms, ++count;
    return sum / count;
  }
  const base::Scratch folder_;
};

}  // namespace harness
