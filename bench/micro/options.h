// What bench_micro is told on the command line beyond Google Benchmark's own flags.
#pragma once
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct MicroOptions {
  std::filesystem::path
      data;  // --data: folder that holds train/<class>/; empty: what needs images is left out
  std::filesystem::path store;  // --store: where `make_dataset pack` put its copies; without it load/lmdb
                                // ends in an error
  int ranks = 0;                // --ranks: processes to start for the collectives; 0: those are left out
  int nodes = 1;                // --nodes: 2 puts the ranks on two emulated nodes
  double link_rate_mbit =
      0;                  // --link-rate-mbit: of the link between the nodes; emulated ones get one that fast
  std::string interface;  // --interface: carries Gloo's messages
};

struct BadOption : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Takes our options out of the arguments and leaves Google Benchmark's. Throws BadOption.
MicroOptions take_options(std::vector<std::string>& arguments);
extern const char* const kOptionsHelp;

// Benchmarks whose names or number depend on the options; called once, after the command line was read.
// Benchmarks that need no data can use Google Benchmark's BENCHMARK macros as usual.
using AddBenchmarks = std::function<void(const MicroOptions&)>;
std::vector<AddBenchmarks>& benchmark_families();
inline bool add_family(AddBenchmarks family) {
  benchmark_families().push_back(std::move(family));
  return true;
}

}  // namespace bench
