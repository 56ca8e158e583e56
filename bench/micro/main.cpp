// bench_micro: parts of the suite alone, e.g. bench_micro --benchmark_filter=load/files --data DIR
#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <string>

#include "bench/micro/options.h"

namespace bench {

std::vector<AddBenchmarks>& benchmark_families() {
  static std::vector<AddBenchmarks> families;
  return families;
}

namespace {

// Takes `--name VALUE` or `--name=VALUE` out of the arguments.
std::filesystem::path take(const std::string& name, std::vector<char*>& arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    if (argument.rfind(name + "=", 0) == 0) {
      arguments.erase(arguments.begin() + static_cast<long>(i));
      return argument.substr(name.size() + 1);
    }
    if (argument == name && i + 1 < arguments.size()) {
      const std::filesystem::path value = arguments[i + 1];
      arguments.erase(arguments.begin() + static_cast<long>(i), arguments.begin() + static_cast<long>(i) + 2);
      return value;
    }
  }
  return {};
}

int run(int count, char** values) {
  std::vector<char*> arguments(values, values + count);
  MicroOptions options;
  options.data = take("--data", arguments);
  options.store = take("--store", arguments);
  int left = static_cast<int>(arguments.size());
  benchmark::Initialize(&left, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(left, arguments.data())) {
    std::fprintf(
        stderr, "besides Google Benchmark's flags: --data DIR (holds train/), --store DIR (packed copies)\n");
    return 2;
  }
  if (options.data.empty())
    std::fprintf(stderr, "decode/ and load/ are left out: name a folder that holds train/ with --data\n");
  for (const AddBenchmarks& family : benchmark_families()) family(options);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** values) {
  try {
    return bench::run(count, values);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_micro: %s\n", error.what());
    return 2;
  }
}
