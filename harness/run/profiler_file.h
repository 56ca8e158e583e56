// Files in the Trace Event Format, which Perfetto and Chrome read, and Kineto's file of one rank: reading it,
// and writing it again as torch.profiler would have written it.
#pragma once
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/contract/rank_timelines.h"

namespace harness {

class TraceFile {
 public:
  // head: the members beside the events, spread over lines, because some readers look for `"rank": 0` by
  // pattern.
  TraceFile(const std::filesystem::path& file, const nlohmann::json& head) : stream_(file) {
    const std::string text = head.dump(1);
    stream_ << text.substr(0, text.size() - 2) << ",\n\"traceEvents\": [";
  }
  // Events' times are microseconds since the earliest time that was included.
  void include(int64_t since_1970_ns) {
    zero_ns_ = std::min(zero_ns_.value_or(since_1970_ns), since_1970_ns);
  }
  bool has_zero() const { return zero_ns_.has_value(); }
  // Only after include().
  double time(int64_t base_ns, double microseconds) const {
    return std::round(double(base_ns - *zero_ns_) + microseconds * 1e3) / 1e3;
  }
  void add(const nlohmann::json& event) {
    stream_ << (events_++ ? ",\n" : "\n")
            << event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  // A range of so many ms from base_ns.
  void add_range(const std::string& category, const std::string& name, int64_t process, int64_t thread,
                 int64_t base_ns, double begin_ms, double end_ms, nlohmann::json arguments) {
    add({{"ph", "X"},
         {"cat", category},
         {"name", name},
         {"pid", process},
         {"tid", thread},
         {"ts", time(base_ns, begin_ms * 1e3)},
         {"dur", std::round((end_ms - begin_ms) * 1e6) / 1e3},
         {"args", std::move(arguments)}});
  }
  void describe(const char* what, int64_t process, int64_t thread, nlohmann::json arguments) {
    add({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", std::move(arguments)}});
  }
  bool close() {
    stream_ << "\n]}\n";
    return bool(stream_.flush());
  }

 private:
  std::ofstream stream_;
  std::optional<int64_t> zero_ns_;
  int64_t events_ = 0;
};

// The keys of an event that are read; the others are copied unchanged.
struct KinetoEvent {
  std::string kind, name, category;
  nlohmann::json process, id;
  std::optional<double> begin_us;
  KEYS(KinetoEvent, Key{"ph", &KinetoEvent::kind, "X: with begin and length, M: a description, ..."},
       KEY(name, "of the operator"), Key{"cat", &KinetoEvent::category, "e.g. cpu_op"},
       Key{"pid", &KinetoEvent::process, "of the host, or the device's number, or words"},
       KEY(id, "of an arrow or collective"), Key{"ts", &KinetoEvent::begin_us, "since the file's base time"});
  // False for Kineto's events about itself, whose process ids are words.
  bool is_operator() const {
    return !kind.empty() && process.is_number() && (kind != "M" || name.starts_with("thread_"));
  }
};

struct KinetoFile {
  int64_t base_ns = 0;  // the events' times are microseconds since then
  nlohmann::json head;  // the members beside the events
  std::vector<std::pair<KinetoEvent, nlohmann::json>> events;
  KEYS(KinetoFile, Key{"baseTimeNanoseconds", &Self::base_ns, "since 1970"});
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
