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
  static constexpr auto keys() {
    return known_keys(
        Required{"top1", &RankAnswers::top1, "images whose label is the network's first answer"},
        Required{"top5", &RankAnswers::top5, "images whose label is among its first five answers"},
        Required{"images", &RankAnswers::images, "number of images"});
  }
};

// Complete batches in the loader's ring at the start and end of the window.
struct RankReady {
  int64_t at_start = 0, at_end = 0;
  static constexpr auto keys() {
    return known_keys(Required{"at_start", &RankReady::at_start, "at the start of the window"},
                      Required{"at_end", &RankReady::at_end, "at the end of the window"});
  }
};

struct RankCeilings {
  int64_t batches = 0;
  double compute_ms = 0;
  std::map<std::string, double> compute;
  std::optional<double> loader_ms, read_ms, decode_ms;
  std::vector<double> compute_batch_ms, loader_batch_ms;
  static constexpr auto keys() {
    return known_keys(
        Required{"batches", &RankCeilings::batches, "batches that each ceiling was measured over"},
        Required{"compute_ms", &RankCeilings::compute_ms, "per batch, the step on synthetic batches"},
        Required{"compute", &RankCeilings::compute, "compute_ms by phase, ms per batch"},
        WhenSet{"compute_batch_ms", &RankCeilings::compute_batch_ms, "compute_ms of each batch"},
        WhenSet{"loader_ms", &RankCeilings::loader_ms, "per batch, the loader alone"},
        WhenSet{"loader_batch_ms", &RankCeilings::loader_batch_ms, "loader_ms of each batch"},
        WhenSet{"read_ms", &RankCeilings::read_ms, "reading time of the loader threads, all these batches"},
        WhenSet{"decode_ms", &RankCeilings::decode_ms,
                "decoding time of the loader threads, all these batches"});
  }
};

// Events of one rank in the last timed batch.
struct RankTimeline {
  int64_t machine = 0, begin_ns = 0;
  std::vector<TimelineEvent> events;
  static constexpr auto keys() {
    return known_keys(
        Required{"machine", &RankTimeline::machine, "equal for ranks that share a steady clock"},
        Required{"begin_ns", &RankTimeline::begin_ns, "begin of the batch on the rank's steady clock"},
        Required{"events", &RankTimeline::events, "times in ms since begin_ns"});
  }
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

  static constexpr auto keys() {
    return known_keys(
        Required{"place", &RankReport::place, "as in `rank_map`"},
        Required{"total_s", &RankReport::total_s, "the timed batches, barrier to barrier"},
        WhenSet{"cpu_time", &RankReport::cpu_time, "of the rank and its cores in the timed batches"},
        Required{"loss", &RankReport::loss, "per timed batch, mean over the rank's images; null: not finite"},
        Required{"correct", &RankReport::correct, "correct answers in the timed batches"},
        Required{"ready", &RankReport::ready, "batches in the loader's ring"},
        Required{"cache", &RankReport::cache, "as in the record"},
        Required{"checks", &RankReport::checks, "as in the record"},
        WhenSet{"notes", &RankReport::notes, "what differs from the configuration"},
        Required{"strategy", &RankReport::strategy, "as in the record"},
        Required{"weights", &RankReport::weights, "fingerprint of the weights after the slice"},
        Required{"clock_calls", &RankReport::clock_calls, "calls of the phase clock per batch"},
        WhenSet{"samples_ms", &RankReport::samples_ms, "{phase: [timed batch]}"},
        WhenSet{"warmup_ms", &RankReport::warmup_ms, "{phase: [warm-up batch]}"},
        WhenSet{"spans_ms", &RankReport::spans_ms, "{span: [timed batch]}"},
        WhenSet{"device_ms", &RankReport::device_ms, "{phase: [timed batch]}, device time"},
        WhenSet{"traffic", &RankReport::traffic,
                "traffic of its collectives in the timed batches; only with several ranks"},
        WhenSet{"ceiling_ms", &RankReport::ceiling_ms,
                "the all-reduces with nothing else running; only with several ranks"},
        WhenSet{"ceilings", &RankReport::ceilings, "loader alone and compute alone"},
        WhenSet{"accuracy", &RankReport::accuracy, "only with `validation`"},
        WhenSet{"timeline", &RankReport::timeline, "only of the first ranks"},
        WhenSet{"gpu", &RankReport::gpu, "readings of its GPUs"},
        WhenSet{"trace", &RankReport::trace, "trace of its GPUs, only with --trace"},
        WhenSet{"link", &RankReport::link, "only of the first rank on a node"},
        WhenSet{"decoded", &RankReport::decoded, "as in the record, of this rank"},
        WhenSet{"external", &RankReport::external, "as in the record, of this rank"},
        Required{"loader_buffer_bytes", &RankReport::loader_buffer_bytes, "memory of the batches"},
        Required{"bad_images", &RankReport::bad_images, "unreadable images, each replaced by the next"},
        Required{"warnings", &RankReport::warnings, "messages about the first unreadable images"});
  }
};

}  // namespace harness
