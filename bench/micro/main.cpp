// bench_micro: micro-benchmarks, e.g. bench_micro --benchmark_filter=load/files --data DIR
#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/options.h"
#include "bench/micro/ranks.h"
#include "harness/base/program_start.h"
#include "harness/contract/machine.h"

namespace bench {

std::vector<AddBenchmarks>& benchmark_families() {
  static std::vector<AddBenchmarks> families;
  return families;
}

namespace {

// Prints as the flags ask, and remembers whether a benchmark erred: Google Benchmark goes on and ends with 0.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return as_asked_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) erred_ |= run.error_occurred;
    as_asked_->ReportRuns(runs);
  }
  void Finalize() override { as_asked_->Finalize(); }
  bool erred() const { return erred_; }

 private:
  const std::unique_ptr<benchmark::BenchmarkReporter> as_asked_{benchmark::CreateDefaultDisplayReporter()};
  bool erred_ = false;
};

}  // namespace

int run_registered() {
  Reporter reporter;
  const size_t run = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  if (run == 0) return 2;  // a filter that matches nothing, which Google Benchmark has said
  return reporter.erred() ? 1 : 0;
}

namespace {

int run_families(const MicroOptions& options) {
  if (options.data.empty())
    std::fprintf(stderr, "decode/ and load/ are skipped: name a folder that contains train/ with --data\n");
  else if (options.store.empty())
    std::fprintf(stderr, "packed storages are skipped: name a folder for their copies with --store\n");
  std::fprintf(stderr,
               "all_reduce/, broadcast/, reduce/ and point_to_point/ are skipped: set the number of "
               "processes with --ranks\n");
  for (const AddBenchmarks& family : benchmark_families()) family(options);
  return run_registered();
}

int run(int count, char** values) {
  std::vector<std::string> arguments(values, values + count);
  const MicroOptions options = take_options(arguments);
  if (is_rank() && options.ranks > 0)
    throw std::runtime_error(
        "--ranks starts processes; omit it where a launcher has started them (it set PMIX_RANK, or RANK and WORLD_SIZE)");
  std::vector<std::string> kept = arguments;  // Google Benchmark removes its own flags
  std::vector<char*> left;
  for (std::string& argument : kept) left.push_back(argument.data());
  int left_count = static_cast<int>(left.size());
  for (const std::string& argument : arguments)
    if (argument == "--help" || argument == "-h") std::printf("%s\n", kOptionsHelp);  // and then its own
  benchmark::AddCustomContext("revision", harness::describe_build().revision);
  benchmark::Initialize(&left_count, left.data());
  if (benchmark::ReportUnrecognizedArguments(left_count, left.data())) throw std::runtime_error(kOptionsHelp);
  if (options.ranks > 0) return start_ranks(options, {arguments.begin() + 1, arguments.end()});
  return is_rank() ? run_rank(options) : run_families(options);
}

}  // namespace
}  // namespace bench

int main(int count, char** values) {
  base::start_program();
  try {
    return bench::run(count, values);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_micro: %s\n", error.what());
    return 2;
  }
}
