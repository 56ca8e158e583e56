// Merges the traces of all ranks into one in the Trace Event Format, which Perfetto and Chrome read.
#include "harness/run/trace_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "harness/run/profiler_file.h"

namespace harness {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr int64_t kMostRanks = 32;           // a larger trace is too big for a browser
constexpr int64_t kOwnTracks = 100'000'000;  // tracks without a thread get numbers above all thread ids
constexpr int64_t kIdsPerRank = 1LL << 32;   // range of ids of arrows and collectives
constexpr int64_t kDevicesPerRank = 1000;

// Adds a rank's timelines, on tracks above those of its threads.
class Timeline {
 public:
  Timeline(TraceFile& trace, int64_t rank, const RankTimelines& timelines)
      : trace_(trace), rank_(rank), clock_began_ns_(timelines.clock_began_ns) {
    trace_.describe("process_name", rank, 0, {{"name", fmt::format("rank {} ({})", rank, timelines.host)}});
    trace_.describe("process_sort_index", rank, 0, {{"sort_index", rank * kDevicesPerRank}});
    for (const TracedBatch& batch : timelines.batches) add(batch);
  }

 private:
  void add(const TracedBatch& batch) {
    const int64_t began_ns = clock_began_ns_ + batch.begin_ns;
    for (const TimelineEvent& event : batch.events) {
      if (event.track == "collectives")
        add_overlapping(event.name, began_ns, event.begin_ms, event.end_ms);
      else
        add_range(event.track == "host" ? "phases" : event.track, event.name, began_ns, event.begin_ms,
                  event.end_ms);
    }
    add_range("batches", fmt::format("batch {}", batch.batch), began_ns, 0, length_ms(batch),
              encode(batch.spans_ms));
  }
  void add_range(const std::string& track, const std::string& name, int64_t began_ns, double begin_ms,
                 double end_ms, json arguments = json::object()) {
    trace_.add_range(track, name, rank_, number_of(track), began_ns, begin_ms, end_ms, std::move(arguments));
  }
  // Collectives may overlap, which only pairs of begin and end events support.
  void add_overlapping(const std::string& name, int64_t began_ns, double begin_ms, double end_ms) {
    const int64_t id = rank_ * kIdsPerRank + overlapping_++;
    for (const auto& [end, ms] : {std::pair("b", begin_ms), std::pair("e", end_ms)})
      trace_.add({{"ph", end},
                  {"cat", "collectives"},
                  {"name", name},
                  {"id", id},
                  {"pid", rank_},
                  {"tid", 0},
                  {"ts", trace_.time(began_ns, ms * 1e3)}});
  }
  int64_t number_of(const std::string& track) {
    const auto [at, is_new] = tracks_.try_emplace(track, kOwnTracks + int64_t(tracks_.size()));
    if (is_new) {
      trace_.describe("thread_name", rank_, at->second, {{"name", track}});
      trace_.describe("thread_sort_index", rank_, at->second, {{"sort_index", at->second - 2 * kOwnTracks}});
    }
    return at->second;
  }

  TraceFile& trace_;
  const int64_t rank_, clock_began_ns_;
  std::map<std::string, int64_t> tracks_;
  int64_t overlapping_ = 0;
};

// Names a GPU's process and sorts it below its rank. Its threads are the streams, named by Kineto. Device -1
// has Kineto's cost of recording.
void describe_device(TraceFile& trace, int64_t rank, int64_t device, int64_t process) {
  const std::string name = device < 0 ? "profiler" : fmt::format("GPU {}", device);
  trace.describe("process_name", process, 0, {{"name", fmt::format("rank {}: {}", rank, name)}});
  const int64_t place = device < 0 ? kDevicesPerRank - 1 : device + 1;
  trace.describe("process_sort_index", process, 0, {{"sort_index", rank * kDevicesPerRank + place}});
}

// Adds Kineto's events; the process id of a device's events is the device's number.
void add_operators(TraceFile& trace, int64_t rank, KinetoFile kineto) {
  const int64_t base_ns = kineto.base_ns;
  auto& events = kineto.events;
  std::erase_if(events, [](const auto& event) { return !event.first.is_operator(); });
  std::optional<int64_t> host;
  for (const auto& [event, all] : events)
    if (!host && event.category == "cpu_op") host = event.process.get<int64_t>();
  // Without any rank's timeline, time begins with this rank's earliest operator, or with another event if
  // there is none.
  for (const bool operators : {true, false}) {
    if (trace.has_zero()) break;
    for (const auto& [event, all] : events)
      if (event.begin_us && (event.kind == "X" || !operators))
        trace.include(base_ns + int64_t(*event.begin_us * 1e3));
  }
  std::set<int64_t> devices;
  for (auto& [event, all] : events) {
    const auto process = event.process.get<int64_t>();
    const int64_t shown = process == host ? rank : kOwnTracks + (rank + 1) * kDevicesPerRank + process;
    if (process != host && event.kind == "X" && devices.insert(process).second)
      describe_device(trace, rank, process, shown);
    all["pid"] = shown;
    if (event.begin_us) all["ts"] = trace.time(base_ns, *event.begin_us);
    if (event.id.is_number()) all["id"] = rank * kIdsPerRank + event.id.get<int64_t>();
    trace.add(all);
  }
}

// Runs `action` on one rank's file; adds a warning and returns false when the file is missing or damaged.
template <class Action>
bool take(const fs::path& file, MergedTrace& merged, Action action) {
  std::string why;
  try {
    action();
    return true;
  } catch (const Violation& violation) {
    why = fmt::format("is damaged ({})", violation.what());
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  merged.warnings.push_back(fmt::format("{} {}: trace.json lacks its events", file.filename().string(), why));
  return false;
}

}  // namespace

MergedTrace merge_traces(const fs::path& directory, int64_t ranks) {
  MergedTrace merged;
  TraceFile trace(directory / "trace.json", {{"displayTimeUnit", "ms"}});
  const int64_t shown = std::min(ranks, kMostRanks);
  if (shown < ranks)
    merged.warnings.push_back(fmt::format(
        "trace.json shows the first {} ranks; the files of the others are in the same folder", shown));
  const auto timeline_of = [&](int64_t rank) {
    return directory / fmt::format("rank-{}.timeline.json", rank);
  };
  std::vector<std::optional<RankTimelines>> timelines(static_cast<size_t>(shown));
  for (int64_t rank = 0; rank < shown; ++rank)  // first, because time begins with the earliest batch
    take(timeline_of(rank), merged, [&] {
      const auto& taken = timelines[size_t(rank)] = decode<RankTimelines>(read_json(timeline_of(rank)));
      for (const TracedBatch& batch : taken->batches) trace.include(taken->clock_began_ns + batch.begin_ns);
    });
  std::vector<fs::path> taken;
  for (int64_t rank = 0; rank < shown; ++rank) {
    const fs::path file = directory / fmt::format("rank-{}.kineto.json", rank);
    const auto& timeline = timelines[size_t(rank)];
    const auto add = [&] {
      KinetoFile kineto = read_kineto(file);
      if (timeline) write_profiler_file(directory / "kineto", ranks, *timeline, kineto);
      add_operators(trace, rank, std::move(kineto));
    };
    if (take(file, merged, add)) taken.push_back(file);
    if (!timeline)
      trace.describe("process_name", rank, 0, {{"name", fmt::format("rank {}", rank)}});
    else if (take(timeline_of(rank), merged, [&] { Timeline(trace, rank, *timeline); }))
      taken.push_back(timeline_of(rank));
  }
  std::error_code error;
  const bool written = trace.close();
  if (!written) merged.warnings.push_back("trace.json can't be written (disk full?)");
  if (!written || taken.empty()) {
    fs::remove(directory / "trace.json", error);
    return merged;
  }
  for (const fs::path& file : taken) fs::remove(file, error);
  merged.file = directory / "trace.json";
  return merged;
}

std::string describe_gpus(const RecordTrace& trace) {
  if (trace.ranks.empty()) return "";
  const auto mean = [&](double RankTrace::*figure) {
    double sum = 0;
    for (const RankTrace& rank : trace.ranks) sum += rank.*figure;
    return sum / double(trace.ranks.size());
  };
  return fmt::format(
      "GPU busy in {:.1f} % of the traced time (kernels {:.1f} %, copies {:.1f} %); the host waited for it "
      "{:.3g} times a batch",
      100 * mean(&RankTrace::gpu_busy_share), 100 * mean(&RankTrace::gpu_kernel_share),
      100 * mean(&RankTrace::gpu_copy_share), mean(&RankTrace::host_waits_per_batch));
}

}  // namespace harness
