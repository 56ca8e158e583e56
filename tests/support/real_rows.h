// Runs run_matrix with the real train_slice at scale smoke, with records in a folder of its own.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "harness/base/child_process.h"
#include "harness/contract/record.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class RealRows : public testing::Test {
 protected:
  // Returns the exit code; `said` has what the program wrote.
  int run(const Words& words) {
    base::Command command;
    command.arguments = {BINARY_DIR "/run_matrix", "--scale", "smoke"};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment = environment;
    command.environment.insert({{"RUN_MATRIX_PLOTS", "specs"}, {"RUN_MATRIX_RESULTS", folder / "results"}});
    command.errors_to_output = true;
    base::Finished finished = base::run_to_end(command);
    said = std::move(finished.output);
    return finished.exit_code;
  }
  // By row, of a run with --out `folder / "run"`.
  std::map<std::string, Record> rows() const {
    std::map<std::string, Record> by_id;
    std::ifstream file(folder /
                       "run/records.jsonl");  // whole: read_records() leaves out what reports don't use
    for (std::string line; std::getline(file, line);) {
      Record record = record_from_json(nlohmann::json::parse(line));
      by_id[record.row] = std::move(record);
    }
    return by_id;
  }
  const TemporaryFolder folder;
  std::map<std::string, std::string> environment;
  std::string said;
};

}  // namespace harness
