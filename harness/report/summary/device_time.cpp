#include "harness/report/summary/device_time.h"

namespace harness {

std::optional<double> mean_ms(const Samples& samples, const std::vector<std::string>& phases) {
  double mean = 0;
  bool measured = false;
  for (const std::string& phase : phases) {
    const auto ranks = samples.find(phase);
    if (ranks == samples.end()) continue;
    double sum = 0, samples = 0;
    for (const std::vector<double>& rank : ranks->second)
      for (double time : rank) sum += time, ++samples;
    if (samples > 0) mean += sum / samples, measured = true;
  }
  return measured ? std::optional(mean) : std::nullopt;
}

std::optional<double> device_ms(const Record& record, const std::vector<std::string>& phases) {
  return mean_ms(record.device_ms, phases);
}

}  // namespace harness
