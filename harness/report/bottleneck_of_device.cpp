#include "harness/report/bottleneck_of_device.h"

#include "harness/report/summary/device_time.h"
#include "harness/report/summary/rank_views.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

double waiting_ms(const RankView& view) {
  double sum = 0;
  for (size_t phase = 0; phase < view.phases_ms.size(); ++phase)
    if (phase_names()[phase] == "broadcast" || phase_names()[phase] == "sync") sum += view.phases_ms[phase];
  return sum;
}

}  // namespace

// The phases in which the host only launches. It waits for the device in all of them if the row synchronises
// needlessly, and in `step` if the loss scaler's answer decides there whether the weights change.
static std::vector<std::string> launching_phases(const Row& row) {
  if (row.needless != "none") return {};
  if (!row.fused_sgd && (row.precision == "o1" || row.precision == "o2")) return {"forward", "backward"};
  return {"forward", "backward", "step"};
}

std::optional<DeviceSteps> device_steps(const Record& record) {
  if (!device_ms(record, {"forward"})) return std::nullopt;
  DeviceSteps steps;
  steps.computing = device_ms(record, {"forward", "loss", "backward", "step"}).value_or(0);
  steps.launching = mean_ms(record.samples_ms, launching_phases(record.config)).value_or(0);
  return steps;
}

std::optional<RankWaits> rank_waits(const Record& record) {
  const auto views = rank_views(record);
  if (!views) return std::nullopt;
  RankWaits waits{waiting_ms(views->mean), waiting_ms(views->critical), {}};
  if (views->critical_share >= RankWaits::kMostBatches) waits.slow_rank = views->critical_rank;
  return waits;
}

}  // namespace harness
