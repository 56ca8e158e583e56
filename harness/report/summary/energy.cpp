// Uses energy counters if every GPU has them, otherwise divides the stated watts by the images per second.
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {

std::optional<double> measured_joules_per_image(const RecordList& runs) {
  std::vector<double> all;
  for (const Record* record : runs) {
    const double images = double(record->timed_batches.value_or(0)) * double(record->config.batch);
    if (record->gpu.empty() || int64_t(record->gpu.size()) != record->world_size || images <= 0 ||
        !record->emulated.empty())
      return std::nullopt;
    double joules = 0;
    for (const RankGpu& gpu : record->gpu) {
      if (!gpu.energy_j) return std::nullopt;
      joules += *gpu.energy_j;
    }
    all.push_back(joules / images);
  }
  return all.empty() ? std::nullopt : std::optional(median(all));
}

// Nodes that share this machine's cores count once.
static int64_t nodes_with_cores(const Record& record) {
  return emulates(record, "nodes") && !emulates_cores(record.config) ? 1 : record.config.nodes;
}

std::optional<Energy> energy_of(const RecordList& runs, const Prices& prices, double images_per_second,
                                int64_t devices) {
  if (runs.empty() || images_per_second <= 0) return std::nullopt;
  if (const auto joules = measured_joules_per_image(runs)) return Energy{*joules, true};
  const Record& record = *runs.front();
  const bool on_processor = record.device.kind == "cpu";
  if (!(on_processor ? prices.watts_per_core : prices.watts_per_gpu)) return std::nullopt;
  double watts = double(record.config.cpus * nodes_with_cores(record)) * prices.watts_per_core.value_or(0);
  if (!on_processor) watts += double(devices) * *prices.watts_per_gpu;
  return Energy{watts / images_per_second, false};
}

}  // namespace harness
