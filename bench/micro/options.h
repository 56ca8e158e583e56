// What the micro-benchmarks are told on the command line beyond Google Benchmark's own flags.
#pragma once
#include <filesystem>
#include <functional>
#include <vector>

namespace bench {

struct MicroOptions {
  std::filesystem::path
      data;  // --data: folder that holds train/<class>/; empty: what needs images is left out
  std::filesystem::path
      store;  // --store: where `make_dataset pack` put its copies; without it load/lmdb ends in an error
};

// Benchmarks whose names or number depend on the options; called once, after the command line was read.
// Benchmarks that need no data can use Google Benchmark's BENCHMARK macros as usual.
using AddBenchmarks = std::function<void(const MicroOptions&)>;
std::vector<AddBenchmarks>& benchmark_families();
inline bool add_family(AddBenchmarks family) {
  benchmark_families().push_back(std::move(family));
  return true;
}

}  // namespace bench
