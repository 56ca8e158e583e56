// Writes a file in the Trace Event Format, which Perfetto and Chrome read.
#pragma once
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

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

}  // namespace harness
