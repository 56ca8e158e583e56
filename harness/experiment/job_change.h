// How a user's own job is changed from outside: between its iterations by the probe, or when it starts.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace harness {

// What a first start of the job tells.
struct JobFacts {
  bool probed = true;  // by the probe; false: another program, of which only its printed steps are known
  int64_t world = 1;
  int64_t cores = 1;    // that it may use, here
  int64_t threads = 1;  // of a rank's arithmetic (torch.get_num_threads)
  int64_t workers = 0;  // of the training loader
  bool loader = false;  // it trains from a torch DataLoader
  bool gpu = false;
  bool files = false;           // its loader opens files that are known
  bool files_fit = true;        // into the memory that is free
  std::string why_quota_stays;  // why its control group's quota can't be lifted; empty: it can
  double step_ms = 0;
};

struct JobChange {
  // For the probe, and null unless the change is made within the process: a segment without its name, block
  // and steps.
  nlohmann::json segment;
  nlohmann::json process = nlohmann::json::object();  // for the probe, of the whole process
  int64_t cores = 0;                                  // 0: all that it may use
  bool unlimited = false;                             // by no quota of a control group
  enum class Files { as_they_are, in_memory, dropped } files = Files::as_they_are;
};

}  // namespace harness
