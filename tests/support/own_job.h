// Commands on a job that isn't ours: tests/own_job/fake_job.py, which reports known times at once.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace harness::own_job_test {

class OwnJob : public Program {
 protected:
  // `job`: arguments of fake_job.py.
  int with_job(const std::string& subcommand, const std::vector<std::string>& options,
               const std::vector<std::string>& job) {
    std::vector<std::string> words = {subcommand, "--out", directory / "run", "--keep-disturbed"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "python3", SOURCE_DIR "/tests/own_job/fake_job.py"});
    words.insert(words.end(), job.begin(), job.end());
    return run(words);
  }
  int explain(const std::vector<std::string>& job, const std::vector<std::string>& options = {}) {
    return with_job("explain", options, job);
  }
  std::set<std::string> changes(const std::string& status) {
    std::set<std::string> found;
    for (const json& record : records_in("run"))
      if (record["status"] == status) found.insert(record["intervention"]["change"].get<std::string>());
    return found;
  }
};

}  // namespace harness::own_job_test
