// Completes LibTorch's Kineto files by the ranks' timelines.
#include "harness/run/profiler_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace harness {

namespace fs = std::filesystem;
using nlohmann::json;

double length_ms(const TracedBatch& batch) {
  double end_ms = 0;
  for (const TimelineEvent& event : batch.events) end_ms = std::max(end_ms, event.end_ms);
  return end_ms;
}

json read_json(const fs::path& file) {
  if (!fs::exists(file)) throw std::runtime_error("is missing");
  return base::require_json(base::read_file(file));
}

KinetoFile read_kineto(const fs::path& file) {
  json all = read_json(file);
  auto kineto = decode<KinetoFile>(all);
  for (json& event : take_list(all, "traceEvents")) {
    if (!event.is_object()) continue;
    auto read = decode<KinetoEvent>(event, "traceEvents");
    if (read.kind == "X" && !read.begin_us)
      throw Violation("traceEvents.ts", fmt::format("the time at which `{}` began", read.name));
    kineto.events.emplace_back(std::move(read), std::move(event));
  }
  kineto.head = std::move(all);
  kineto.head.erase("traceEvents");
  return kineto;
}

void write_profiler_file(const fs::path& folder, int64_t ranks, const RankTimelines& timelines,
                         const KinetoFile& kineto) {
  base::make_folder(folder);
  json head = kineto.head;
  head["distributedInfo"] = {{"rank", timelines.rank}, {"world_size", ranks}};
  const fs::path path = folder / fmt::format("rank-{}.json", timelines.rank);
  TraceFile file(path, head);
  file.include(kineto.base_ns);
  for (const auto& [event, all] : kineto.events) file.add(all);
  for (const TracedBatch& batch : timelines.batches) {
    const int64_t began_ns = timelines.clock_began_ns + batch.begin_ns;
    file.add_range("user_annotation", fmt::format("ProfilerStep#{}", batch.batch), timelines.pid,
                   timelines.pid, began_ns, 0, length_ms(batch), json::object());
  }
  if (!file.close())
    throw std::runtime_error(fmt::format("is not in {}: can't be written (disk full?)", path.string()));
}

}  // namespace harness
