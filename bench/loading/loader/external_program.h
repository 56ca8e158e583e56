// The process of another program's loader: bench/loading/external/ring.py with an adapter, and the two pipes
// by which slots of the ring are handed over. Towards it: G lets it make batches and then stands for a free
// slot, F for one more of them. From it: R, prepared; B, a batch in the next slot; or a word that it ends
// with.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/file.h"

namespace bench {

struct ExternalProgramOptions {
  std::vector<std::string> command;
  std::filesystem::path folder;  // with job.json
  int memory_fd = -1;            // of the ring, which the program gets under the same number
  int64_t rank = 0, batches = 0;
};

class ExternalProgram {
 public:
  // Starts it. Throws std::runtime_error if that fails.
  explicit ExternalProgram(ExternalProgramOptions options);
  ~ExternalProgram();  // ends it, and all processes that it has started
  ExternalProgram(const ExternalProgram&) = delete;
  ExternalProgram& operator=(const ExternalProgram&) = delete;

  // One that has ended is noticed by the next wait.
  void tell(const std::string& words);
  // Until it says R or B. `what`, for messages: "for batch 3". Throws LoaderHangs, with the place where the
  // program is, after limit_s; BadDataset where it says that it got or gives what it shouldn't;
  // std::runtime_error where it has failed, ended or says anything else.
  void wait_for(char word, double limit_s, const std::string& what);
  int64_t batches() const { return batches_; }  // those that were waited for and came
  int ready_batches() const;
  std::string who() const;  // the command, as the row has it

 private:
  [[noreturn]] void fail(char word);
  [[noreturn]] void throw_ended() const;
  std::string stack() const;

  const ExternalProgramOptions options_;
  base::Descriptor free_, full_, ended_;
  pid_t pid_ = 0;
  int64_t batches_ = 0;
};

}  // namespace bench
