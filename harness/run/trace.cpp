#include "harness/run/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/data/data.h"

namespace harness {

constexpr int64_t kMiddle = 3;  // batches that --trace means without a range

static int64_t batch_number(const std::string& text, const std::string& all) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text[0] == '-')
    throw PreparationError(fmt::format(
        "--trace {}: expected timed batches counted from 0, like 150-152 (and configs before --trace)", all));
  return number;
}

std::optional<TracedBatches> traced_batches(const Request& request, const Row& row) {
  const std::string& text = request.trace;
  if (text.empty()) return std::nullopt;
  const int64_t timed = row.timed_batches;
  if (text == "middle") {
    const int64_t first = std::max<int64_t>(0, (timed - kMiddle + 1) / 2);
    return TracedBatches{first, std::min(timed, first + kMiddle) - 1};
  }
  const size_t dash = text.find('-');
  const TracedBatches batches{batch_number(text.substr(0, dash), text),
                              batch_number(dash == std::string::npos ? text : text.substr(dash + 1), text)};
  if (batches.first > batches.last || batches.last >= timed)
    throw PreparationError(fmt::format("row {}: --trace {}: expected a range inside its timed batches 0-{}",
                                       row.id, text, timed - 1));
  return batches;
}

std::string describe(const TracedBatches& batches) {
  if (batches.first == batches.last)
    return fmt::format("batch {} was traced: its times contain the profiler", batches.first);
  return fmt::format("batches {}-{} were traced: their times contain the profiler", batches.first,
                     batches.last);
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
      "{:.3g} "
      "times a batch",
      100 * mean(&RankTrace::gpu_busy_share), 100 * mean(&RankTrace::gpu_kernel_share),
      100 * mean(&RankTrace::gpu_copy_share), mean(&RankTrace::host_waits_per_batch));
}

}  // namespace harness
