// train_slice: one rank of one row. Reads a job, prepares everything, trains the slice, hands its samples to
// rank 0.
#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "bench/job.h"
#include "bench/link/link.h"
#include "bench/precision/probe.h"
#include "bench/rank_report.h"
#include "bench/storage/cache_proof.h"
#include "bench/versions.h"

namespace bench {
namespace {

// The harness asks a rank that makes no progress for its stack before it ends it.
void print_stack_on(int signal_number) {
  struct sigaction action {};
  action.sa_handler = [](int) {
    void* frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  };
  sigaction(signal_number, &action, nullptr);
  void* warm[1];
  backtrace(warm, 1);  // loads libgcc now, where allocating is still allowed
}

void write_json(const std::filesystem::path& file, const nlohmann::json& object) {
  std::ofstream stream(file);
  stream << object << '\n';
  if (!stream.flush())
    throw std::runtime_error(fmt::format("{}: can't be written (disk full?)", file.string()));
}

// Loader threads are given per node; remainders go to low ranks, and every rank has at least one unless 0 was
// asked.
int loader_threads_of(const harness::Row& row, const RankInfo& rank) {
  if (row.loader_threads == 0) return 0;
  const int64_t share = row.loader_threads / rank.local_world_size;
  return int(std::max<int64_t>(1, share + (rank.local_rank < row.loader_threads % rank.local_world_size)));
}

void run(const Job& job, const RankInfo& rank) {
  const harness::Row& row = job.row;
  harness::Progress progress(job.progress, 0);
  const int64_t replicas = row.nodes * row.devices;
  const int64_t batch = row.batch / rank.world_size;

  const Dataset dataset = read_index(job.index);
  SamplerOptions order{int64_t(dataset.images.size()), row.order == "shuffled", uint64_t(row.seed), rank.rank,
                       rank.world_size};
  const auto records =
      Sampler(order).records_of_first((row.warmup_batches + row.timed_batches + row.ring_depth) * batch);
  const auto packed = job.packed.find(row.storage);
  std::unique_ptr<Storage> storage = StorageRegistry::instance().find(row.storage)(
      {dataset, packed == job.packed.end() ? "" : packed->second, row.readahead, records});
  storage = throttled(std::move(storage), row.read_rate / rank.local_world_size, row.read_latency_ms);

  LoaderOptions load;
  load.batch_size = batch;
  load.image_px = row.image_px;
  load.threads = loader_threads_of(row, rank);
  load.ring_depth = int(row.ring_depth);
  load.sampler = order;
  load.classes = row.classes;
  const auto loader = make_loader(*storage, load);

  const auto device = DeviceRegistry::instance().find(row.device)(
      {rank.local_rank, batch, row.image_px, row.intra_op_threads});
  ResNet model(row.width, row.classes, uint64_t(row.seed));
  const auto precision = PrecisionRegistry::instance().find(row.precision)(
      {device->torch_device(), {row.learning_rate, row.momentum, row.weight_decay}});
  precision->convert(model);
  const auto group =
      GroupRegistry::instance().find(row.backend)({rank, LinkRegistry::instance().find(row.link)()});
  const auto strategy =
      StrategyRegistry::instance().find(row.strategy)({row, model, *precision, *device, *group, rank});

  const SliceParts parts{row,        *loader,   *device, model,
                         *precision, *strategy, *group,  progress.slot(rank.rank)};
  std::vector<Check> checks{check_gradients(parts, rank)};
  if (row.warmup_batches == 0) warm_model(parts);

  CacheProof cache(row.cache, *storage, records);
  group->barrier();
  cache.slice_begins();
  const SliceResult result = run_slice(parts);
  const nlohmann::json proof = cache.slice_ended(loader->stats().encoded_bytes);

  checks.push_back(check_loss(result.loss));
  checks.push_back({"cache", cache.violation().empty(), cache.violation()});
  const auto reports = group->gather(rank_report(parts, rank, result, proof, checks).dump());
  if (rank.rank == 0) {
    nlohmann::json merged = merge_reports(row, reports);
    merged["device"] = {
        {"kind", row.device},
        {"name", device->name()},
        {"label", fmt::format("{} {} {}{}", replicas, row.device == "cpu" ? "CPU" : row.device,
                              rank.world_size > 1 ? "rank" : "replica", replicas > 1 ? "s" : "")}};
    merged["precision"] = {{"name", row.precision}, {"sixteen_bit", precision->sixteen_bit()}};
    merged["versions"] = library_versions();
    write_json(job.directory / "slice.json", merged);
  }
  progress.slot(rank.rank).state = uint32_t(harness::RankState::done);
}

// The harness reads why a rank ended from here; nothing else is left of its numbers.
int report_error(const Job& job, const RankInfo& rank, const char* status, const std::string& reason) {
  std::cerr << "rank " << rank.rank << ": " << reason << '\n';
  write_json(job.directory / fmt::format("rank-{}.error.json", rank.rank),
             {{"status", status}, {"reason", reason}});
  return 1;
}

int run_and_report(const Job& job, const RankInfo& rank) {
  try {
    run(job, rank);
    return 0;
  } catch (const BadDataset& error) {
    return report_error(job, rank, "INVALID", error.what());
  } catch (const std::bad_alloc&) {
    return report_error(job, rank, "OUT_OF_MEMORY", "an allocation failed");
  } catch (const std::exception& error) {
    const std::string text = error.what(), first_line = text.substr(0, text.find('\n'));
    // LibTorch's allocators throw no type of their own on a CPU.
    bool memory = false;
    for (const char* words :
         {"not enough memory", "out of memory", "can't allocate memory", "Cannot allocate memory"})
      memory = memory || text.find(words) != std::string::npos;
    return report_error(job, rank, memory ? "OUT_OF_MEMORY" : "CRASHED", first_line);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  CLI::App app{
      "One rank of one row; started by run_matrix, or by any launcher that sets RANK, WORLD_SIZE and so on."};
  std::string job_file;
  bool values = false, probe = false;
  app.add_option("--job", job_file, "job file that run_matrix wrote");
  app.add_flag("--values", values, "print the values of every axis as JSON");
  app.add_flag("--probe-precision", probe,
               "with --job: time a few steps of each precision, print ms as JSON");
  CLI11_PARSE(app, argc, argv);
  if (values) {
    std::cout << bench::values_as_json() << '\n';
    return 0;
  }
  if (job_file.empty())
    throw std::invalid_argument("--job FILE is missing; run_matrix writes one for each row");
  const bench::Job job = bench::read_job(job_file);
  if (probe) {
    std::cout << bench::probe_precisions(job.row) << '\n';
    return 0;
  }
  bench::print_stack_on(SIGUSR2);
  return bench::run_and_report(job, bench::rank_from_environment());
} catch (const std::exception& error) {
  std::cerr << "train_slice: " << error.what() << '\n';
  return 2;
}
