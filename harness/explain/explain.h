// What binds a row? Measures it unchanged and with one thing changed at a time, in interleaved blocks.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "harness/config/installation.h"
#include "harness/config/request.h"

namespace harness {

struct ExplainRequest {
  std::vector<std::string> changes;  // only these, by name; empty: all
  std::vector<std::string> rows;     // ids; `all`: every row of the matrix
  double within_s = 600;             // for each row: after its first block no run starts later
  std::filesystem::path prices;      // a price file; empty: none
};

// Slices of 60 batches; request.repeats blocks (default 5), in which every change runs once, in random order.
// Every run is appended to the records as it ends. Returns kAllGood, kNothingRan when nothing could be
// changed, kRowFailed when a run failed, kInterrupted after Ctrl-C. Throws ConfigError or PreparationError
// before anything has run.
int run_explain(const Installation& installation, Request request, const ExplainRequest& explain,
                std::ostream& console);

}  // namespace harness
