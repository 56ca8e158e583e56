// Kineto's file of one rank: reading it, and writing it again as torch.profiler would have written it.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/contract/rank_timelines.h"
#include "harness/run/trace_file.h"

namespace harness {

// The keys of an event that are read; the others are copied unchanged.
struct KinetoEvent {
  std::string kind, name, category;
  nlohmann::json process, id;
  std::optional<double> begin_us;
  static constexpr auto keys() {
    return known_keys(Key{"ph", &KinetoEvent::kind, "X: with begin and length, M: a description, ..."},
                      Key{"name", &KinetoEvent::name, "of the operator"},
                      Key{"cat", &KinetoEvent::category, "e.g. cpu_op"},
                      Key{"pid", &KinetoEvent::process, "of the host, or the device's number, or words"},
                      Key{"id", &KinetoEvent::id, "of an arrow or collective"},
                      Key{"ts", &KinetoEvent::begin_us, "since the file's base time"});
  }
  // False for Kineto's events about itself, whose process ids are words.
  bool is_operator() const {
    return !kind.empty() && process.is_number() && (kind != "M" || name.starts_with("thread_"));
  }
};

struct KinetoFile {
  int64_t base_ns = 0;  // the events' times are microseconds since then
  nlohmann::json head;  // the members beside the events
  std::vector<std::pair<KinetoEvent, nlohmann::json>> events;
  static constexpr auto keys() {
    return known_keys(Key{"baseTimeNanoseconds", &KinetoFile::base_ns, "since 1970"});
  }
};

// From its beginning to the end of its last event.
double length_ms(const TracedBatch& batch);

// Both throw std::runtime_error, Violation among them, with the reason.
nlohmann::json read_json(const std::filesystem::path& file);
KinetoFile read_kineto(const std::filesystem::path& file);

// Writes folder/rank-N.json for tools that compare ranks, such as HolisticTraceAnalysis, which take all files
// of a folder. Adds what torch.profiler has and LibTorch lacks: the rank, and a range `ProfilerStep#N` for
// each batch (as in the record, timed ones counted from 0). Throws std::runtime_error with the reason.
void write_profiler_file(const std::filesystem::path& folder, int64_t ranks, const RankTimelines& timelines,
                         const KinetoFile& kineto);

}  // namespace harness
