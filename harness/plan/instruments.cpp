// Parses the range of traced batches, `middle` or 150-152, and checks it against the row's length.
#include "harness/plan/instruments.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/number.h"
#include "harness/config/row_traits.h"

namespace harness {

constexpr int64_t kMiddle = 3;  // number of batches that --trace without a range traces

static int64_t batch_number(const std::string& text, const std::string& all) {
  const auto number = base::number_of<int64_t>(text);
  if (!number || text[0] == '-')
    throw PreparationError(fmt::format(
        "--trace {}: expected timed batches counted from 0, like 150-152 (and configs before --trace)", all));
  return *number;
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

void check_wrap(const Request& request, const Row& row, const AxisValues& values) {
  if (request.wrap.empty()) return;
  const int64_t ranks = world_size(row, values);
  if (request.wrap_rank >= ranks)
    throw PreparationError(
        fmt::format("row {}: --wrap-rank {}: expected {}", row.id, request.wrap_rank,
                    ranks == 1 ? "0, its only rank" : fmt::format("one of its ranks 0-{}", ranks - 1)));
}

std::string describe_wrap(const Request& request) {
  return fmt::format("rank {} ran under: {}", request.wrap_rank, request.wrap);
}

}  // namespace harness
