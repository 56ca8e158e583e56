// merge/RANKS, report/RANKS: the cost of a row of many ranks after its end. `merge`: rank 0 writes the ranks'
// reports, run_matrix merges them and writes the record; `report`: `run_matrix report` on that record. Limits
// for 1,024 ranks of 300 batches together: 5 s and 1 GiB.
#include "harness/merge/merge.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/base/file.h"
#include "harness/contract/slice_file.h"
#include "harness/report/table.h"
#include "harness/stats/records.h"
#include "tests/support/fake_report.h"

namespace {

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("merge-{}", getpid());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

// Resets the process's peak resident memory (VmHWM) to the current value, and reads it in MiB.
void forget_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }
double peak_memory_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return 0;
}

std::vector<std::string> fake_reports(const harness::Row& row, int64_t ranks) {
  std::vector<std::string> reports;
  for (int64_t rank = 0; rank < ranks; ++rank) reports.push_back(bench::fake_report(row, int(rank)).dump());
  return reports;
}

void merge_into(const std::filesystem::path& folder, const harness::Row& row,
                std::vector<std::string> reports) {
  const auto ranks = int64_t(reports.size());
  base::write_whole_file(folder / "slice.jsonl", harness::slice_text({}, std::move(reports)),
                         /*durable=*/false);
  std::ifstream slice(folder / "slice.jsonl");
  harness::Record record = harness::merge_reports(row, ranks, slice);
  record.row = "many";
  record.status = "OK";
  record.config = row;
  record.scale.name = "article";
  record.device.kind = row.device;
  record.timed_batches = row.timed_batches;
  std::filesystem::remove(folder / "records.jsonl");
  harness::append_record(folder / "records.jsonl", to_json(record));
}

void merge(benchmark::State& state) {
  const Folder folder;
  const harness::Row row;
  double peak = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto reports = fake_reports(row, state.range(0));
    forget_peak_memory();
    state.ResumeTiming();
    merge_into(folder.path, row, std::move(reports));
    peak = std::max(peak, peak_memory_mib());
  }
  state.counters["peak_MiB"] = peak;
}

void report(benchmark::State& state) {
  const Folder folder;
  const harness::Row row;
  merge_into(folder.path, row, fake_reports(row, state.range(0)));
  forget_peak_memory();
  for (auto _ : state) {
    std::ostringstream console;
    const auto records = harness::read_records(folder.path, console);
    if (!harness::write_report(folder.path, harness::summarise(records), console))
      state.SkipWithError(console.str().c_str());
  }
  state.counters["peak_MiB"] = peak_memory_mib();
}

BENCHMARK(merge)->Arg(1024)->Unit(benchmark::kSecond);
BENCHMARK(report)->Arg(1024)->Unit(benchmark::kSecond);

}  // namespace
