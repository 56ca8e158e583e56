// The report that each rank sends to rank 0 after its slice; rank 0 writes them to slice.jsonl
// (slice_file.h), and run_matrix merges them into a Record.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/cpu_time.h"
#include "harness/contract/record_extras.h"
#include "harness/contract/record_parts.h"

namespace harness {

using RankSamples = std::map<std::string, std::vector<double>>;  // name -> [batch], ms

// Correct answers for the rank's images in the timed batches.
struct RankAnswers {
  int64_t top1 = 0, top5 = 0, images = 0;
  KEYS(RankAnswers, REQUIRED(top1, "images whose label is the network's first answer"),
       REQUIRED(top5, "images whose label is among its first five answers"),
       REQUIRED(images, "number of images"));
};

// Complete batches in the loader's ring at the start and end of the window.
struct RankReady {
  int64_t at_start = 0, at_end = 0;
  KEYS(RankReady, REQUIRED(at_start, "at the start of the window"),
       REQUIRED(at_end, "at the end of the window"));
};

struct RankCeilings {
  int64_t batches = 0;
  double compute_ms = 0;
  std::map<std::string, double> compute;
  std::optional<double> loader_ms, read_ms, decode_ms;
  std::vector<double> compute_batch_ms, loader_batch_ms;
  KEYS(RankCeilings, REQUIRED(batches, "batches that each ceiling was measured over"),
       REQUIRED(compute_ms, "per batch, the step on synthetic batches"),
       REQUIRED(compute, "compute_ms by phase, ms per batch"),
       WHEN_SET(compute_batch_ms, "compute_ms of each batch"),
       WHEN_SET(loader_ms, "per batch, the loader alone"),
       WHEN_SET(loader_batch_ms, "loader_ms of each batch"),
       WHEN_SET(read_ms, "reading time of the loader threads, all these batches"),
       WHEN_SET(decode_ms, "decoding time of the loader threads, all these batches"));
};

// Events of one rank in the last timed batch.
struct RankTimeline {
  int64_t machine = 0, begin_ns = 0;
  std::vector<TimelineEvent> events;
  KEYS(RankTimeline, REQUIRED(machine, "equal for ranks that share a steady clock"),
       REQUIRED(begin_ns, "begin of the batch on the rank's steady clock"),
       REQUIRED(events, "times in ms since begin_ns"));
};

struct RankReport {
  RankPlace place;
  double total_s = 0, clock_calls = 0;
  std::optional<CpuTime> cpu_time;
  std::vector<double> loss;
  RankAnswers correct;
  RankReady ready;
  RecordCache cache;
  std::vector<RecordCheck> checks;
  nlohmann::json strategy = nlohmann::json::object();
  std::string weights;
  RankSamples samples_ms, warmup_ms, spans_ms, device_ms;
  std::optional<RecordCommunication> traffic;
  std::optional<double> ceiling_ms;
  std::optional<RankCeilings> ceilings;
  std::optional<RecordAccuracy> accuracy;
  std::optional<RankTimeline> timeline;
  std::optional<RankGpu> gpu;
  std::optional<RankTrace> trace;
  std::optional<RecordDecoded> decoded;
  std::optional<RecordExternal> external;
  std::optional<LinkNode> link;
  int64_t loader_buffer_bytes = 0, bad_images = 0;
  std::vector<std::string> notes, warnings;

  KEYS(RankReport, REQUIRED(place, "as in `rank_map`"),
       REQUIRED(total_s, "the timed batches, barrier to barrier"),
       WHEN_SET(cpu_time, "of the rank and its cores in the timed batches"),
       REQUIRED(loss, "per timed batch, mean over the rank's images; null: not finite"),
       REQUIRED(correct, "correct answers in the timed batches"),
       REQUIRED(ready, "batches in the loader's ring"), REQUIRED(cache, "as in the record"),
       REQUIRED(checks, "as in the record"), WHEN_SET(notes, "what differs from the configuration"),
       REQUIRED(strategy, "as in the record"),
       REQUIRED(weights, "fingerprint of the weights after the slice"),
       REQUIRED(clock_calls, "calls of the phase clock per batch"),
       WHEN_SET(samples_ms, "{phase: [timed batch]}"), WHEN_SET(warmup_ms, "{phase: [warm-up batch]}"),
       WHEN_SET(spans_ms, "{span: [timed batch]}"),
       WHEN_SET(device_ms, "{phase: [timed batch]}, device time"),
       WHEN_SET(traffic, "traffic of its collectives in the timed batches; only with several ranks"),
       WHEN_SET(ceiling_ms, "the all-reduces with nothing else running; only with several ranks"),
       WHEN_SET(ceilings, "loader alone and compute alone"), WHEN_SET(accuracy, "only with `validation`"),
       WHEN_SET(timeline, "only of the first ranks"), WHEN_SET(gpu, "readings of its GPUs"),
       WHEN_SET(trace, "trace of its GPUs, only with --trace"),
       WHEN_SET(link, "only of the first rank on a node"),
       WHEN_SET(decoded, "as in the record, of this rank"),
       WHEN_SET(external, "as in the record, of this rank"),
       REQUIRED(loader_buffer_bytes, "memory of the batches"),
       REQUIRED(bad_images, "unreadable images, each replaced by the next"),
       REQUIRED(warnings, "messages about the first unreadable images"));
};

}  // namespace harness
