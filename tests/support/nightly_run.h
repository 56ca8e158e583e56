// run_matrix with a fake train_slice and a history in the test's folder: a night takes a second.
#pragma once
#include <map>
#include <sstream>

#include "harness/nightly/history.h"
#include "tests/support/program.h"

class NightlyRun : public harness::Program {
 protected:
  using Environment = std::map<std::string, std::string>;
  using Words = std::vector<std::string>;

  pid_t start(const Words& words, const Environment& environment = {}) {
    return base::start(command(words, environment));
  }
  static Words nightly(Words more = {"--no-report"}) {
    Words words = {"nightly", "--scale", "smoke", "--only", "0,1", "--set", "storage=synthetic"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  std::filesystem::path results() const { return directory / "results"; }
  std::filesystem::path history_folder() const { return results() / "history"; }
  std::vector<harness::Night> nights() const {
    std::ostringstream warnings;
    return harness::History(history_folder(), warnings).nights();
  }
};
