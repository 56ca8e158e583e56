// all_reduce/, broadcast/, reduce/, point_to_point/ over message size, for each carrier; see bench/README.md.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <numeric>
#include <optional>

#include "bench/micro/collectives/c10d_carrier.h"
#include "bench/micro/collectives/lockstep.h"
#include "bench/micro/ranks.h"
#include "bench/train/link/interface.h"
#include "harness/base/failure_text.h"
#include "harness/base/listener.h"
#include "harness/stats/statistics.h"

namespace bench {
namespace {

constexpr const char* kOperations[] = {"all_reduce", "broadcast", "reduce", "point_to_point"};
// 3.3 MB and 48 MB: about the size of ResNet18's gradients at the scales rehearsal and article.
constexpr int64_t kBytes[] = {1 << 10,   16 << 10, 256 << 10,  1 << 20,
                              3'300'000, 8 << 20,  48'000'000, 256 << 20};

// Bytes over each rank's link per message byte, as defined by nccl-tests (doc/PERFORMANCE.md).
double bus_factor(Operation operation, int ranks) {
  return operation == Operation::all_reduce ? 2.0 * (ranks - 1) / ranks : 1;
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
  if (!times.bare_calls.empty())
    state.counters["over_bare"] = harness::median(times.calls) / harness::median(times.bare_calls);
}

int lead(Lockstep& ranks, const std::vector<NamedCarrier>& carriers, int world_size, double link_rate_mbit) {
  benchmark::ClearRegisteredBenchmarks();  // other benchmarks would run while ranks wait
  for (int operation = 0; operation < int(std::size(kOperations)); ++operation)
    for (const int64_t bytes : kBytes)
      for (int carrier = 0; carrier < int(carriers.size()); ++carrier) {
        if (bytes > Lockstep::most_bytes(carriers[size_t(carrier)].device)) continue;
        const std::string name =
            fmt::format("{}/{}/bytes:{}", kOperations[operation], carriers[size_t(carrier)].name, bytes);
        const BenchmarkCase one{ranks, carriers[size_t(carrier)], world_size, link_rate_mbit};
        benchmark::RegisterBenchmark(name.c_str(), measure, one, Run{operation, carrier, bytes, 0})
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
  const int code = run_registered();
  ranks.end();
  return code;
}

// Prepares the meeting with the other ranks. Rank 0 listens at once, in `listener` unless it inherited a
// socket.
void prepare(GroupOptions& place, std::optional<base::Listener>& listener) {
  RankInfo& rank = place.rank;
  if (rank.world_size > 1 && rank.master_port == 0)
    throw std::invalid_argument(
        "MASTER_PORT is not set: set it to a free port of rank 0's host and MASTER_ADDR to that host, as with "
        "mpirun -x MASTER_ADDR=HOST -x MASTER_PORT=29500");
  if (rank.rank == 0 && rank.listen_fd < 0) {
    listener.emplace(rank.master_port, /*every_interface=*/rank.master_addr != "127.0.0.1");
    rank.listen_fd = listener->fd();
    rank.master_port = listener->port();
  }
  if (place.interface.empty())
    place.interface = rank.local_world_size < rank.world_size ? interface_towards(rank.master_addr) : "lo";
  bytes_of_interface(place.interface);  // throws if there is none
}

}  // namespace

int run_rank(const MicroOptions& options) {
  at::set_num_threads(1);  // as the ranks of a row
  GroupOptions place;
  place.rank = rank_from_environment();
  place.interface = options.interface;
  std::optional<base::Listener> listener;
  std::unique_ptr<Group> gloo;  // not destroyed after a failure: destructors may wait for other ranks
  std::vector<NamedCarrier> carriers;
  try {
    prepare(place, listener);
    gloo = GroupRegistry::instance().find("gloo")(place);
    place.store = gloo->process_group()->getStore().get();
    carriers = make_mpi_carriers(place);
    carriers.push_back({"gloo", std::make_unique<C10dCarrier>(*gloo->process_group()), ""});
    for (NamedCarrier& carrier : make_gpu_carriers(place, *gloo->process_group()))
      carriers.push_back(std::move(carrier));
    Lockstep ranks(carriers, *gloo);
    int code = 0;
    if (place.rank.rank == 0)
      code = lead(ranks, carriers, place.rank.world_size, options.link_rate_mbit);
    else
      ranks.follow();
    carriers.clear();
    gloo->barrier();  // rank 0 serves the store, which NCCL's threads read
    return code;
  } catch (const std::exception& error) {
    const std::string text = base::failure_text(error);
    fmt::print(stderr, "bench_micro: rank {}: {}\n", place.rank.rank, text.substr(0, text.find('\n')));
    std::fflush(stdout);
    std::_Exit(2);  // whoever started the ranks, or the closed connection, ends the others
  }
}

}  // namespace bench
