// all_reduce/, broadcast/, reduce/, point_to_point/ over message size, for each carrier; see bench/README.md.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bench/micro/collectives/lockstep.h"
#include "bench/micro/ranks.h"

namespace bench {
namespace {

constexpr const char* kOperations[] = {"all_reduce", "broadcast", "reduce", "point_to_point"};
// 3.3 MB and 48 MB: about the size of ResNet18's gradients at the scales rehearsal and article.
constexpr int64_t kBytes[] = {1 << 10, 16 << 10, 256 << 10, 1 << 20, 3'300'000, 8 << 20, 48'000'000};

// Bytes over each rank's link per message byte, as defined by nccl-tests (doc/PERFORMANCE.md).
double bus_factor(Operation operation, int ranks) {
  return operation == Operation::all_reduce ? 2.0 * (ranks - 1) / ranks : 1;
}

double median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct BenchmarkCase {
  Lockstep& ranks;
  const NamedCarrier& carrier;
  int world_size;
  double link_rate_mbit;
};

void measure(benchmark::State& state, const BenchmarkCase& one, Run run) {
  run.calls = state.max_iterations;
  const Times times = one.ranks.lead(run);
  if (!times.right) {
    state.SkipWithError("wrong result");
    return;
  }
  size_t call = 0;
  for (auto _ : state) state.SetIterationTime(times.calls[call++]);
  const double seconds =
      std::accumulate(times.calls.begin(), times.calls.end(), 0.0) / double(times.calls.size());
  const double factor = bus_factor(Operation(run.operation), one.world_size);
  state.counters["algorithm_bandwidth"] = double(run.bytes) / seconds;
  state.counters["bus_bandwidth"] = factor * double(run.bytes) / seconds;
  state.counters["ranks"] = one.world_size;
  if (one.link_rate_mbit > 0)
    state.counters["wire_ratio"] = seconds / (factor * double(run.bytes) * 8 / (one.link_rate_mbit * 1e6));
  if (!times.bare_calls.empty()) state.counters["over_bare"] = median(times.calls) / median(times.bare_calls);
}

void lead(Lockstep& ranks, const std::vector<NamedCarrier>& carriers, int world_size, double link_rate_mbit) {
  benchmark::ClearRegisteredBenchmarks();  // other benchmarks would run while ranks wait
  for (int operation = 0; operation < int(std::size(kOperations)); ++operation)
    for (const int64_t bytes : kBytes)
      for (int carrier = 0; carrier < int(carriers.size()); ++carrier) {
        const std::string name =
            fmt::format("{}/{}/bytes:{}", kOperations[operation], carriers[size_t(carrier)].name, bytes);
        const BenchmarkCase one{ranks, carriers[size_t(carrier)], world_size, link_rate_mbit};
        benchmark::RegisterBenchmark(name.c_str(), measure, one, Run{operation, carrier, bytes, 0})
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

}  // namespace

int run_rank(const MicroOptions& options) {
  at::set_num_threads(1);  // as the ranks of a row
  GroupOptions group_options;
  group_options.rank = rank_from_environment();
  group_options.interface = options.interface;
  const auto mpi = GroupRegistry::instance().find("mpi")(group_options);
  try {
    const auto carriers = make_carriers(*mpi, group_options);
    Lockstep ranks(carriers);
    if (group_options.rank.rank == 0) {
      lead(ranks, carriers, group_options.rank.world_size, options.link_rate_mbit);
      ranks.end();
    } else {
      ranks.follow();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_micro: rank %d: %s\n", group_options.rank.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);  // the others wait for this rank
  }
  return 0;
}

}  // namespace bench
