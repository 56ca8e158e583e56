// bench_micro's command-line options in addition to Google Benchmark's flags.
#pragma once
#include <benchmark/benchmark.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct MicroOptions {
  std::filesystem::path data;   // --data: folder that contains train/<class>/; empty: no images
  std::filesystem::path store;  // --store: folder for packed copies; empty: packed storages are left out
  int ranks = 0;                // --ranks: number of processes for the collectives; 0: none
  int nodes = 1;                // --nodes: 2 puts the ranks on two emulated nodes
  double link_rate_mbit = 0;    // --link-rate-mbit: rate of the link between the nodes, Mbit/s; 0: unlimited
  std::string interface;        // --interface: network interface between the ranks; empty: found
};

// Removes these options from the arguments; Google Benchmark's remain. Throws std::runtime_error or
// CLI::ParseError.
MicroOptions take_options(std::vector<std::string>& arguments);
extern const char* const kOptionsHelp;

// Functions that register benchmarks depending on the options; each is called once after the command line is
// parsed. Benchmarks without data can use Google Benchmark's BENCHMARK macros.
using AddBenchmarks = std::function<void(const MicroOptions&)>;
std::vector<AddBenchmarks>& benchmark_families();
inline bool add_family(AddBenchmarks family) {
  benchmark_families().push_back(std::move(family));
  return true;
}

// Registers a benchmark that an exception ends, and no other.
template <class Run>
benchmark::internal::Benchmark* add_benchmark(const std::string& name, Run run) {
  return benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    try {
      run(state);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  });
}

}  // namespace bench
