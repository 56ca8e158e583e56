// Keeps the few kinds of events that tell steps and phases, one at a time: traces have millions.
#include "harness/own_job/profiler_trace.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/contract/codec.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Reads what isn't compressed unchanged.
std::string uncompressed(const fs::path& file) {
  base::require_regular(file);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> input(::gzopen(file.c_str(), "rb"), &::gzclose);
  if (!input) throw std::runtime_error("can't be read");
  std::string text;
  std::vector<char> buffer(1 << 20);
  for (int read; (read = ::gzread(input.get(), buffer.data(), unsigned(buffer.size()))) != 0;) {
    if (read < 0) throw std::runtime_error("its compressed content is damaged or cut off");
    text.append(buffer.data(), size_t(read));
  }
  int error = Z_OK;
  ::gzerror(input.get(), &error);
  if (error != Z_OK) throw std::runtime_error("its compressed content is cut off");
  return text;
}

struct EventArguments {
  std::optional<int64_t> correlation;
  std::optional<double> bytes;
  json dims;
  KEYS(EventArguments, KEY(correlation, "equal in a call and what it started"), KEY(bytes, "of a copy"),
       Key{"Input Dims", &EventArguments::dims, "shapes of the inputs"});
};

struct Event {
  std::string kind, name, category;
  std::optional<double> begin_us, length_us;
  json thread;
  EventArguments arguments;
  KEYS(Event, Key{"ph", &Event::kind, "X: with begin and length"},
       KEY(name, "of the operator, kernel or range"), Key{"cat", &Event::category, "e.g. cpu_op"},
       Key{"ts", &Event::begin_us, "begin, us"}, Key{"dur", &Event::length_us, "length, us"},
       Key{"tid", &Event::thread, "thread, a stream on a GPU"},
       Key{"args", &Event::arguments, "depends on the category"});
};

struct TraceHead {
  struct Distributed {
    int64_t rank = 0, world = 1;
    KEYS(Distributed, KEY(rank, "number of the process"),
         Key{"world_size", &Distributed::world, "processes"});
  };
  struct Gpu {
    std::string name;
    double memory_bytes = 0;
    KEYS(Gpu, KEY(name, "of the model"), Key{"totalGlobalMem", &Gpu::memory_bytes, "bytes"});
  };
  Distributed distributed;
  std::vector<Gpu> gpus;
  KEYS(TraceHead, Key{"distributedInfo", &Self::distributed, "of jobs with several processes"},
       Key{"deviceProperties", &Self::gpus, "GPUs"});
};

std::optional<int64_t> batch_of(const Event& event) {
  static constexpr const char* kFirst[] = {"aten::conv1d", "aten::conv2d", "aten::conv3d",
                                           "aten::convolution", "aten::linear"};
  if (std::none_of(std::begin(kFirst), std::end(kFirst), [&](auto* name) { return event.name == name; }))
    return std::nullopt;
  const json& dims = event.arguments.dims;
  if (!dims.is_array() || dims.empty() || !dims[0].is_array() || dims[0].size() < 2) return std::nullopt;
  if (!dims[0][0].is_number_integer() || dims[0][0] <= 0) return std::nullopt;
  return dims[0][0].get<int64_t>();
}

class Reader {
 public:
  void take(const json& object) {
    auto event = decode<Event>(object, "traceEvents");
    if (event.kind != "X" || !event.begin_us) return;
    ++ranges_;
    TraceRange range{*event.begin_us, *event.begin_us + event.length_us.value_or(0), event.name,
                     event.thread.is_number_integer() ? event.thread.get<int64_t>() : 0};
    const std::string& category = event.category;
    if (category == "user_annotation") {
      trace_.marks.push_back(std::move(range));
    } else if (category == "cpu_op") {
      if (const auto batch = batch_of(event); batch && range.begin_us < first_layer_us_) {
        first_layer_us_ = range.begin_us;
        trace_.batch = batch;
      }
      trace_.operators.push_back(std::move(range));
    } else if (category == "cuda_runtime" || category == "cuda_driver") {
      if (event.arguments.correlation) calls_[*event.arguments.correlation] = std::move(range);
    } else if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") {
      const bool to_device = range.name.find("HtoD") != std::string::npos;
      correlations_.push_back(event.arguments.correlation.value_or(-1));
      trace_.work.push_back({std::move(range), to_device, event.arguments.bytes.value_or(0), {}});
    }
  }

  ProfilerTrace finish(const json& head) {
    if (ranges_ == 0) throw std::runtime_error("it has no list `traceEvents` of ranges with times");
    const auto told = decode<TraceHead>(head);
    trace_.rank = told.distributed.rank;
    trace_.world = std::max<int64_t>(1, told.distributed.world);
    if (!trace_.work.empty()) trace_.device = told.gpus.empty() ? "a GPU" : told.gpus.front().name;
    if (!told.gpus.empty()) trace_.device_memory_bytes = told.gpus.front().memory_bytes;
    for (size_t i = 0; i < trace_.work.size(); ++i)
      if (const auto call = calls_.find(correlations_[i]); call != calls_.end()) {
        trace_.work[i].launched_at_us = call->second.begin_us;
        if (trace_.work[i].copy_to_device) trace_.copy_calls.push_back(call->second);
      }
    const auto sort = [](auto& ranges) {
      std::ranges::stable_sort(ranges, [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; });
    };
    sort(trace_.marks), sort(trace_.operators), sort(trace_.copy_calls), sort(trace_.work);
    return std::move(trace_);
  }

 private:
  ProfilerTrace trace_;
  std::map<int64_t, TraceRange> calls_;  // by correlation
  std::vector<int64_t> correlations_;    // of `work`
  double first_layer_us_ = std::numeric_limits<double>::max();
  int64_t ranges_ = 0;
};

}  // namespace

ProfilerTrace read_profiler_trace(const fs::path& file) try {
  const std::string text = uncompressed(file);
  if (base::is_nested_too_deep(text)) throw std::runtime_error("it is nested too deep");
  Reader reader;
  std::string list;  // the key whose value is being read
  constexpr int kEvent = 2;
  const json head = json::parse(
      text,
      [&](int depth, json::parse_event_t what, json& parsed) {
        if (what == json::parse_event_t::key && depth == 1) list = parsed.get<std::string>();
        if (what != json::parse_event_t::object_end || depth != kEvent || list != "traceEvents") return true;
        reader.take(parsed);
        return false;
      },
      /*allow_exceptions=*/false);
  if (!head.is_object()) throw std::runtime_error("it is not complete JSON");
  return reader.finish(head);
} catch (const std::runtime_error& error) {
  throw std::runtime_error(
      fmt::format("{}: not a trace of torch.profiler: {}; name a whole file (.json or .json.gz) "
                  "of its export_chrome_trace(), or export it again",
                  file.string(), error.what()));
}

}  // namespace harness
