// Reads the reports one after another, keeps maxima or means over the ranks, and collects their checks.
#include "harness/merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/json_text.h"
#include "harness/contract/rank_report.h"
#include "harness/contract/slice_file.h"
#include "harness/merge/interference.h"
#include "harness/merge/link_traffic.h"

namespace harness {

// Appends one rank's {name: [batch]} to {name: [rank][batch]}.
static void move_samples(RankSamples& samples, Samples& merged) {
  for (auto& [name, values] : samples) merged[name].push_back(std::move(values));
}

// Keeps passed checks of rank 0 only, and failed checks of every rank.
static void add_checks(RankReport& report, size_t world_size, std::vector<RecordCheck>& merged) {
  for (RecordCheck& check : report.checks) {
    if (check.ok && report.place.rank != 0) continue;
    if (world_size > 1) check.detail = fmt::format("rank {}: {}", report.place.rank, check.detail);
    merged.push_back(std::move(check));
  }
}

static void raise(std::optional<double>& highest, const std::optional<double>& value) {
  if (value) highest = std::max(highest.value_or(0), *value);
}

// Values that are equal on all ranks. report: of rank 0.
static void take_common(SliceFacts facts, RankReport& report, size_t world_size, Record& merged) {
  merged.device = std::move(facts.device);
  merged.precision = std::move(facts.precision);
  merged.versions = std::move(facts.versions);
  merged.clock = {report.clock_calls, facts.clock_ns_per_call};
  merged.cache = report.cache;
  merged.strategy = std::move(report.strategy);
  if (world_size == 1) return;
  if (!report.traffic) throw Violation("traffic", "the bytes of its collectives");
  merged.communication = std::move(report.traffic);
}

// Merges ceilings: times of the slowest rank, means over ranks of the phases.
struct MergedCeilings {
  std::optional<RecordCeilings> merged;
  double read_ms = 0, decode_ms = 0;

  void add(const RankCeilings& rank, size_t world_size) {
    if (!merged) merged.emplace().batches = rank.batches;
    if (!merged->compute_ms || rank.compute_ms > *merged->compute_ms)
      merged->compute_batch_ms = rank.compute_batch_ms;
    if (rank.loader_ms && (!merged->loader_ms || *rank.loader_ms > *merged->loader_ms))
      merged->loader_batch_ms = rank.loader_batch_ms;
    raise(merged->compute_ms, rank.compute_ms);
    raise(merged->loader_ms, rank.loader_ms);
    for (const auto& [phase, ms] : rank.compute) merged->compute[phase] += ms / double(world_size);
    read_ms += rank.read_ms.value_or(0);
    decode_ms += rank.decode_ms.value_or(0);
    if (read_ms + decode_ms > 0) merged->read_share = read_ms / (read_ms + decode_ms);
  }
};

// Sums over the ranks, converted to shares and means by write().
struct Sums {
  std::vector<double> loss;
  RankAnswers correct;
  int64_t bad_images = 0, device_bytes = 0, encoded_bytes = 0;
  bool device_bytes_known = true;
  std::vector<int64_t> device_bytes_by_third, encoded_bytes_by_third;
  std::vector<double> cached_records_by_third;

  void add(const RankReport& report) {
    if (loss.empty()) loss.resize(report.loss.size());  // none from devices that compute nothing
    if (report.loss.size() != loss.size())
      throw Violation("loss", fmt::format("{} batches, as of rank 0", loss.size()), report.loss.size());
    for (size_t batch = 0; batch < loss.size(); ++batch) loss[batch] += report.loss[batch];
    correct.top1 += report.correct.top1;
    correct.top5 += report.correct.top5;
    correct.images += report.correct.images;
    bad_images += report.bad_images;
    encoded_bytes += report.cache.encoded_bytes.value_or(0);
    device_bytes_known = device_bytes_known && report.cache.device_bytes;
    device_bytes += report.cache.device_bytes.value_or(0);
    add_thirds(report.cache.device_bytes_by_third, device_bytes_by_third);
    add_thirds(report.cache.encoded_bytes_by_third, encoded_bytes_by_third);
    add_thirds(report.cache.cached_records_by_third, cached_records_by_third);
  }

  void write(size_t world_size, Record& merged) const {
    for (const double sum : loss) merged.loss.push_back(sum / double(world_size));
    if (correct.images > 0) {
      merged.top1 = double(correct.top1) / double(correct.images);
      merged.top5 = double(correct.top5) / double(correct.images);
    }
    merged.bad_images = bad_images;
    merged.cache->encoded_bytes = encoded_bytes;
    merged.cache->device_bytes = device_bytes_known ? std::optional(device_bytes) : std::nullopt;
    merged.cache->cached_records_by_third = cached_records_by_third;
    for (double& share : merged.cache->cached_records_by_third) share /= double(world_size);
    if (!device_bytes_known) return;
    merged.cache->device_bytes_by_third = device_bytes_by_third;
    merged.cache->encoded_bytes_by_third = encoded_bytes_by_third;
  }

  template <class Number>
  static void add_thirds(const std::vector<Number>& of_rank, std::vector<Number>& sums) {
    sums.resize(std::max(sums.size(), of_rank.size()));
    for (size_t third = 0; third < of_rank.size(); ++third) sums[third] += of_rank[third];
  }
};

// Values that only some ranks report.
static void take_facts_of_some(RankReport& report, Record& merged, std::vector<RankTimeline>& timelines,
                               std::vector<LinkNode>& links) {
  if (report.accuracy) merged.accuracy = report.accuracy;
  if (report.timeline) timelines.push_back(std::move(*report.timeline));
  if (report.gpu) merged.gpu.emplace_back(*report.gpu).rank = report.place.rank;
  if (report.gpu && !report.gpu->devices.empty()) merged.device.driver = report.gpu->devices[0].driver;
  if (report.trace) {
    if (!merged.trace) merged.trace.emplace();
    merged.trace->ranks.emplace_back(*report.trace).rank = report.place.rank;
  }
  if (report.decoded) {
    if (!merged.decoded) merged.decoded.emplace();
    merged.decoded->jpeg_engine += report.decoded->jpeg_engine;
    merged.decoded->cuda += report.decoded->cuda;
    merged.decoded->cpu += report.decoded->cpu;
  }
  if (report.external) {
    RecordExternal& merged_external = merged.external ? *merged.external : merged.external.emplace();
    merged_external.compared += report.external->compared;
    merged_external.misplaced += report.external->misplaced;
    raise(merged_external.mean_difference, report.external->mean_difference);
    raise(merged_external.greatest_difference, report.external->greatest_difference);
  }
  if (report.link) links.emplace_back(*report.link).node = report.place.node;
}

// The record's `timeline` of the last timed batch. Steady clocks are comparable only on one machine; with
// several machines each rank's events start at 0.
static RecordTimeline merge_timelines(std::vector<RankTimeline> parts, int64_t batch) {
  bool one_host = true;
  int64_t earliest = parts.at(0).begin_ns;
  for (const RankTimeline& part : parts) {
    one_host = one_host && part.machine == parts[0].machine;
    earliest = std::min(earliest, part.begin_ns);
  }
  RecordTimeline timeline;
  timeline.batch = batch;
  timeline.clocks = one_host ? "one host" : "each rank's own";
  for (RankTimeline& part : parts) {
    const double later_ns = one_host ? double(part.begin_ns - earliest) : 0;
    for (TimelineEvent& event : part.events) {
      for (double* ms : {&event.begin_ms, &event.end_ms}) *ms = rounded_ms(*ms * 1e6 + later_ns);
      timeline.events.push_back(std::move(event));
    }
  }
  return timeline;
}

namespace {

class Merge {
 public:
  Merge(const Row& row, int64_t world_size, SliceFacts facts)
      : row_(row), world_size_(size_t(world_size)), facts_(std::move(facts)) {
    merged_.world_size = world_size;
    const int64_t ranks_per_node = std::max<int64_t>(1, world_size / row.nodes);
    const int64_t threads_per_rank = (row.loader_threads + ranks_per_node - 1) / ranks_per_node;
    merged_.ring = {batches_ahead(row, threads_per_rank), {}, {}, {}};
    merged_.total_s = 0;
  }

  void add(RankReport report) {
    const int64_t rank = int64_t(merged_.rank_map.size());
    if (report.place.rank != rank)
      throw Violation("place.rank", fmt::format("{}, as the reports are in rank order", rank),
                      report.place.rank);
    if (rank == 0) {
      weights_ = report.weights;
      take_common(std::move(facts_), report, world_size_, merged_);
    }
    equal_weights_ = equal_weights_ && report.weights == weights_;
    if (merged_.communication) raise(merged_.communication->ceiling_ms, report.ceiling_ms);
    if (report.ceilings) ceilings_.add(*report.ceilings, world_size_);
    if (report.cpu_time) load_.add(report.place, *report.cpu_time);
    sums_.add(report);
    merged_.total_s = std::max(*merged_.total_s, report.total_s);
    merged_.ring->buffer_bytes.push_back(report.loader_buffer_bytes);
    merged_.ring->ready_at_start.push_back(report.ready.at_start);
    merged_.ring->ready_at_end.push_back(report.ready.at_end);
    move_samples(report.samples_ms, merged_.samples_ms);
    move_samples(report.warmup_ms, merged_.warmup_ms);
    move_samples(report.spans_ms, merged_.spans_ms);
    move_samples(report.device_ms, merged_.device_ms);
    for (const std::string& note : report.notes) add_note(note);
    std::ranges::move(report.warnings, std::back_inserter(merged_.warnings));
    take_facts_of_some(report, merged_, timelines_, links_);
    add_checks(report, world_size_, merged_.checks);
    merged_.rank_map.push_back(std::move(report.place));
  }

  // Call once, after the last rank's report.
  Record take() {
    sums_.write(world_size_, merged_);
    load_.write_to(merged_.environment);
    note_gpus();
    merged_.ceilings = ceilings_.merged;
    if (!timelines_.empty())
      merged_.timeline = merge_timelines(std::move(timelines_), row_.timed_batches - 1);
    if (auto check = check_transports(merged_.rank_map, row_.link))
      merged_.checks.push_back(std::move(*check));
    if (!links_.empty() && row_.collectives) {
      LinkTraffic proof = check_link_traffic(
          merged_.communication.value(), std::move(links_), int64_t(world_size_),
          row_.device_file.empty() ? NodeWire{} : NodeWire{row_.wire == "tree", row_.wire_divisor});
      merged_.link = std::move(proof.record);
      merged_.checks.push_back({"link", proof.violation.empty(), proof.violation});
    }
    if (world_size_ > 1 && !weights_.empty() && row_.collectives)
      merged_.checks.push_back(
          {"weights", equal_weights_,
           equal_weights_ ? "equal on all ranks after the slice" : "ranks ended with different weights"});
    return std::move(merged_);
  }

 private:
  void add_note(const std::string& note) {
    if (std::ranges::find(merged_.notes, note) == merged_.notes.end()) merged_.notes.push_back(note);
  }

  // PCIe links that are slower than they could be, and GPUs unlike the first.
  void note_gpus() {
    const GpuFacts* first = nullptr;
    for (const RankGpu& rank : merged_.gpu)
      for (const GpuFacts& gpu : rank.devices) {
        if (!first) first = &gpu;
        for (const char* name : {"pcie_generation", "pcie_width"}) {
          const auto under_load = gpu.figure(name), most = gpu.figure("pcie_max_" + std::string(name + 5));
          if (under_load && most && *under_load < *most)
            add_note(
                fmt::format("{}: {} under load, but GPU and slot are able to {}", name, *under_load, *most));
        }
        for (const char* mode : {"ecc", "mig"})
          if (gpu.figure(mode) != first->figure(mode))
            add_note(fmt::format("{}: its GPUs differ in it", mode));
      }
  }

  const Row& row_;
  const size_t world_size_;
  SliceFacts facts_;
  Record merged_;
  bool equal_weights_ = true;
  std::string weights_;
  MergedCeilings ceilings_;
  Sums sums_;
  Interference load_;
  std::vector<RankTimeline> timelines_;
  std::vector<LinkNode> links_;
};

}  // namespace

Record merge_reports(const Row& row, int64_t world_size, std::istream& slice) {
  std::optional<Merge> merge;
  std::string line;
  int64_t number = 0;
  for (; std::getline(slice, line); ++number) try {
      const nlohmann::json object = base::require_json(line);
      if (number == 0)
        merge.emplace(row, world_size, decode<SliceFacts>(object));
      else if (number <= world_size)
        merge->add(decode<RankReport>(object));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("line {}: {}", number + 1, error.what()));
    }
  if (number != world_size + 1)
    throw std::runtime_error(
        fmt::format("expected {} lines, the facts of all ranks and the report of each, found {}",
                    world_size + 1, number));
  return merge->take();
}

}  // namespace harness
