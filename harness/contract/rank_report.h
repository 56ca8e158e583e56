// What each rank hands to rank 0 after its slice, and rank 0 puts together to a Record.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record_extras.h"
#include "harness/contract/record_parts.h"

namespace harness {

using RankSamples = std::map<std::string, std::vector<double>>;  // name -> [batch], ms

// Of the rank's images in the timed batches.
struct RankAnswers {
  int64_t top1 = 0, top5 = 0, images = 0;
  static constexpr auto keys() {
    return std::tuple(
        Key{"top1", &RankAnswers::top1, "whose label is the network's first answer", Presence::required},
        Key{"top5", &RankAnswers::top5, "whose label is among its first five", Presence::required},
        Key{"images", &RankAnswers::images, "all", Presence::required});
  }
};

// Complete batches in the loader's ring at the edges of the window.
struct RankReady {
  int64_t at_start = 0, at_end = 0;
  static constexpr auto keys() {
    return std::tuple(Key{"at_start", &RankReady::at_start, "where it opened", Presence::required},
                      Key{"at_end", &RankReady::at_end, "where it closed", Presence::required});
  }
};

struct RankCeilings {
  int64_t batches = 0;
  double compute_ms = 0;
  std::map<std::string, double> compute;
  std::optional<double> loader_ms, read_ms, decode_ms;
  static constexpr auto keys() {
    return std::tuple(
        Key{"batches", &RankCeilings::batches, "that each was measured over", Presence::required},
        Key{"compute_ms", &RankCeilings::compute_ms, "per batch of the step on made-up batches",
            Presence::required},
        Key{"compute", &RankCeilings::compute, "the same by phase, ms per batch", Presence::required},
        Key{"loader_ms", &RankCeilings::loader_ms, "per batch with the loader alone", Presence::when_set},
        Key{"read_ms", &RankCeilings::read_ms, "of its threads, on all of these batches", Presence::when_set},
        Key{"decode_ms", &RankCeilings::decode_ms, "the same", Presence::when_set});
  }
};

// What one rank saw of the last timed batch.
struct RankTimeline {
  int64_t machine = 0, begin_ns = 0;
  std::vector<TimelineEvent> events;
  static constexpr auto keys() {
    return std::tuple(
        Key{"machine", &RankTimeline::machine, "equal where steady clocks agree", Presence::required},
        Key{"begin_ns", &RankTimeline::begin_ns, "of the batch, on its steady clock", Presence::required},
        Key{"events", &RankTimeline::events, "in ms from then on", Presence::required});
  }
};

struct RankReport {
  RankPlace place;
  double total_s = 0, clock_calls = 0;
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
  std::optional<LinkNode> link;
  int64_t loader_buffer_bytes = 0, bad_images = 0;
  std::vector<std::string> warnings;

  static constexpr auto keys() {
    constexpr auto required = Presence::required, optional = Presence::when_set;
    return std::tuple(
        Key{"place", &RankReport::place, "as in `rank_map`", required},
        Key{"total_s", &RankReport::total_s, "the timed batches, barrier to barrier", required},
        Key{"loss", &RankReport::loss, "per timed batch, mean over the rank's images; null: not finite",
            required},
        Key{"correct", &RankReport::correct, "answers in the timed batches", required},
        Key{"ready", &RankReport::ready, "batches in the loader's ring", required},
        Key{"cache", &RankReport::cache, "as in the record", required},
        Key{"checks", &RankReport::checks, "as in the record", required},
        Key{"strategy", &RankReport::strategy, "as in the record", required},
        Key{"weights", &RankReport::weights, "fingerprint after the slice", required},
        Key{"clock_calls", &RankReport::clock_calls, "of the phase clock per batch", required},
        Key{"samples_ms", &RankReport::samples_ms, "{phase: [timed batch]}", optional},
        Key{"warmup_ms", &RankReport::warmup_ms, "{phase: [warm-up batch]}", optional},
        Key{"spans_ms", &RankReport::spans_ms, "{span: [timed batch]}", optional},
        Key{"device_ms", &RankReport::device_ms, "{phase: [timed batch]}, device time", optional},
        Key{"traffic", &RankReport::traffic, "of its collectives in the timed batches; with several ranks",
            optional},
        Key{"ceiling_ms", &RankReport::ceiling_ms, "of the all-reduces alone; with several ranks", optional},
        Key{"ceilings", &RankReport::ceilings, "loader and compute alone", optional},
        Key{"accuracy", &RankReport::accuracy, "with `validation`", optional},
        Key{"timeline", &RankReport::timeline, "of the first ranks", optional},
        Key{"gpu", &RankReport::gpu, "readings of its GPUs", optional},
        Key{"trace", &RankReport::trace, "of its GPUs, with --trace", optional},
        Key{"link", &RankReport::link, "of the first rank on a node", optional},
        Key{"loader_buffer_bytes", &RankReport::loader_buffer_bytes, "memory of the batches", required},
        Key{"bad_images", &RankReport::bad_images, "each replaced by the next", required},
        Key{"warnings", &RankReport::warnings, "the first of them by name", required});
  }
};

}  // namespace harness
