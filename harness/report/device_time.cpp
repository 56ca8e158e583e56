#include "harness/report/device_time.h"

namespace harness {

using nlohmann::json;

std::optional<double> device_ms(const json& record, const std::vector<std::string>& phases) {
  const auto found = record.find("device_ms");
  if (found == record.end() || !found->is_object()) return std::nullopt;
  double mean = 0;
  bool measured = false;
  for (const std::string& phase : phases) {
    double sum = 0, samples = 0;
    const json ranks = found->value(phase, json::array());
    for (const json& rank : ranks)
      for (const json& time : rank)
        if (time.is_number()) sum += time.get<double>(), ++samples;
    if (samples > 0) mean += sum / samples, measured = true;
  }
  return measured ? std::optional(mean) : std::nullopt;
}

}  // namespace harness
