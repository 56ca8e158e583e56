// Averages each phase over all ranks and batches, and adds up the phases.
#include "harness/report/summary/device_time.h"

#include <cmath>

#include "harness/contract/precision_traits.h"
#include "harness/stats/records.h"

namespace harness {

std::optional<double> mean_ms(const Samples& samples, const std::vector<std::string>& phases) {
  double mean = 0;
  bool measured = false;
  for (const std::string& phase : phases) {
    const auto ranks = samples.find(phase);
    if (ranks == samples.end()) continue;
    double sum = 0, samples = 0;
    for (const std::vector<double>& rank : ranks->second)
      for (const double ms : rank)
        if (!std::isnan(ms)) sum += ms, ++samples;
    if (samples > 0) mean += sum / samples, measured = true;
  }
  return measured ? std::optional(mean) : std::nullopt;
}

bool has_device_times(const Record& record, const std::string& phase) {
  const auto found = record.device_ms.find(phase);
  return found != record.device_ms.end() && !found->second.empty();
}

std::optional<double> device_ms(const Record& record, const std::vector<std::string>& phases) {
  return mean_ms(record.device_ms, phases);
}

// The phases in which the host only launches. It waits for the device in all of them if the row synchronises
// needlessly, and in `step` if the loss scaler's answer decides there whether the weights change.
static std::vector<std::string> launching_phases(const Row& row) {
  if (row.needless != "none") return {};
  if (!row.fused_sgd && precision_traits(row.precision).scales_loss) return {"forward", "backward"};
  return {"forward", "backward", "step"};
}

std::optional<DeviceSteps> device_steps(const Record& record) {
  if (!device_ms(record, {"forward"})) return std::nullopt;
  DeviceSteps steps;
  steps.computing = device_ms(record, phases_of(StepPart::computing)).value_or(0);
  steps.launching = mean_ms(record.samples_ms, launching_phases(record.config)).value_or(0);
  return steps;
}

}  // namespace harness
