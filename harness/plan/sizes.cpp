#include "harness/plan/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/prediction.h"

namespace harness {

// Time per image of the rows of results/sample, divided by that of a step alone on the same machine: loading
// and ceilings share the cores.
constexpr double kAroundStep = 1.3;

std::optional<RecordSizes> choose_sizes(const std::vector<PlannedRow>& plan, const PrecisionTimes& times,
                                        int64_t step_images, const Scale& scale) {
  const auto step = times.find("o0");
  if (step == times.end() || !(step->second > 0) || step_images <= 0 || scale.fewest_batches <= 0)
    return std::nullopt;
  const double image_s = kAroundStep * step->second / 1e3 / double(step_images);
  RecordSizes sizes{.step_ms = step->second, .step_images = step_images};
  for (const PlannedRow& planned : plan) {
    if (!planned.skip_reason.empty() || planned.row.validation) continue;
    if (planned.row.device != "cpu") return std::nullopt;
    sizes.predicted_s += estimated_s(planned.row, image_s);
    sizes.usual_batches = std::max(sizes.usual_batches, planned.row.timed_batches);
  }
  sizes.timed_batches = sizes.predicted_s <= kMatrixTime_s
                            ? sizes.usual_batches
                            : std::min(sizes.usual_batches, scale.fewest_batches);
  return sizes;
}

void apply(const RecordSizes& sizes, Row& row) {
  if (!row.validation) row.timed_batches = std::min(row.timed_batches, sizes.timed_batches);
}

std::string describe(const RecordSizes& sizes) {
  const std::string measured = fmt::format(
      "sizes: a training step of {} images takes {:.1f} ms here, so that {} timed batches a row "
      "would take {}",
      sizes.step_images, sizes.step_ms, sizes.usual_batches, duration_text(sizes.predicted_s));
  if (sizes.timed_batches == sizes.usual_batches) return measured + "\n";
  return fmt::format("{}; rows run {} (--set timed_batches={} runs all)\n", measured, sizes.timed_batches,
                     sizes.usual_batches);
}

}  // namespace harness
