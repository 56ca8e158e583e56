// Fits a line through times by batch size, and states for every figure how it was measured or assumed.
#include "harness/stats/calibration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "harness/stats/statistics.h"

namespace harness {
namespace {

// Those of a GPU's device.settings that a device file tells.
struct DeviceReadings {
  std::optional<double> memory_bytes, h2d_gb_per_s;
  KEYS(DeviceReadings, KEY(memory_bytes, "memory of the GPU"),
       KEY(h2d_gb_per_s, "rate of the copies of batches"));
};

// Median over the batches of the sum of some phases, on the first rank.
double phases_ms(const Record& record, const std::vector<std::string>& phases) {
  const Samples& samples = is_cpu(record) ? record.samples_ms : record.device_ms;
  std::vector<double> sums;
  for (const std::string& phase : phases) {
    const auto found = samples.find(phase);
    if (found == samples.end()) continue;
    sums.resize(std::max(sums.size(), found->second.at(0).size()));
    for (size_t i = 0; i < found->second[0].size(); ++i) sums[i] += found->second[0][i];
  }
  return sums.empty() ? 0 : median(sums);
}

class Calibration {
 public:
  Calibration(const std::string& run, const RecordList& single, const RecordList& several)
      : run_(run), single_(single), several_(several), cpu_(is_cpu(*single.front())) {}

  EmulatedDevice device(const std::string& name) const {
    const Record& first = *single_.front();
    EmulatedDevice made;
    made.name = name;
    made.summary = fmt::format("{}, measured: {} px, width {}", first.device.name, first.config.image_px,
                               first.config.width);
    made.image_px = first.config.image_px;
    made.width = first.config.width;
    std::map<std::string, RecordList> by_precision;
    for (const Record* record : single_) by_precision[record->config.precision].push_back(record);
    for (const auto& [precision, records] : by_precision)
      made.models[first.config.model][precision] = costs_of(records);
    set_copies(made);
    set_collectives(made);
    return made;
  }

 private:
  SourcedFigure measured(double value, const RecordList& records, const std::string& how) const {
    return {value, "measured",
            fmt::format("run {}, {}, {}, {}: {}", run_, names_of(records),
                        records.front()->started_at.substr(0, 10), records.front()->device.name, how)};
  }
  static SourcedFigure assumed(double value, const std::string& why) { return {value, "assumed", why}; }

  // ms = fixed + per_image x images, by least squares over the batch sizes.
  void fit(const RecordList& records, const std::vector<std::string>& phases, SourcedFigure& per_image,
           SourcedFigure& fixed) const {
    std::map<int64_t, std::vector<double>> by_batch;
    for (const Record* record : records)
      by_batch[images_per_device(record->config)].push_back(phases_ms(*record, phases));
    const std::string what =
        fmt::format("{} {}", phases.size() == 1 ? "phase" : "phases", fmt::join(phases, " and "));
    if (by_batch.size() == 1) {
      const auto& [batch, ms] = *by_batch.begin();
      per_image = measured(median(ms) / double(batch), records, fmt::format("{}, batch {}", what, batch));
      fixed = assumed(0, "the run has one batch size, which can't tell it from the time per image");
      return;
    }
    const double n = double(by_batch.size());
    double x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [batch, ms] : by_batch) {
      x += double(batch), y += median(ms);
      xx += double(batch) * double(batch), xy += double(batch) * median(ms);
    }
    double slope = (n * xy - x * y) / (n * xx - x * x), intercept = (y - slope * x) / n;
    if (slope <= 0)
      throw std::runtime_error(fmt::format(
          "{}: larger batches took no longer in {}; measure them again on a quiet machine, or choose one "
          "row with --row",
          names_of(records), what));
    std::string how = fmt::format("{}, line through {} batch sizes", what, by_batch.size());
    if (intercept < 0) {
      slope = xy / xx, intercept = 0;
      how += ", through 0";
    }
    per_image = measured(slope, records, how);
    fixed = measured(intercept, records, how);
  }

  PrecisionCosts costs_of(const RecordList& records) const {
    using Phases = std::vector<std::string>;
    PrecisionCosts costs;
    fit(records, cpu_ ? Phases{"forward", "loss"} : Phases{"forward"}, costs.forward_ms_per_image,
        costs.forward_ms);
    fit(records, {"backward"}, costs.backward_ms_per_image, costs.backward_ms);
    const Phases step = cpu_ ? Phases{"step", "other"} : Phases{"step"};
    std::vector<double> ms;
    for (const Record* record : records) ms.push_back(phases_ms(*record, step));
    costs.optimizer_ms =
        measured(median(ms), records,
                 fmt::format("{} {}", step.size() == 1 ? "phase" : "phases", fmt::join(step, " and ")));
    return costs;
  }

  void set_copies(EmulatedDevice& made) const {
    const Record& largest = **std::ranges::max_element(single_, [](const Record* a, const Record* b) {
      return images_per_device(a->config) < images_per_device(b->config);
    });
    const DeviceReadings readings = largest.device.settings.is_object()
                                        ? decode<DeviceReadings>(largest.device.settings)
                                        : DeviceReadings{};
    const double bytes =
        double(images_per_device(largest.config)) * (decoded_image_bytes(largest.config) + 8);  // and a label
    const double ms = phases_ms(largest, {"h2d"});
    if (readings.h2d_gb_per_s.value_or(0) > 0)
      made.h2d_gb_per_s = measured(*readings.h2d_gb_per_s, {&largest}, "device.settings.h2d_gb_per_s");
    else if (ms > 0 && largest.device.kind != "own")  // of a job's batch the bytes are unknown
      made.h2d_gb_per_s =
          measured(bytes / ms * 1e-6, {&largest}, fmt::format("phase h2d, batch {}", largest.config.batch));
    else
      made.h2d_gb_per_s = assumed(10, "the run has no time of a copy");
    const double rate = made.h2d_gb_per_s.value;
    const double latency_us = cpu_ ? 0 : 10;
    const char* latency = cpu_ ? "a CPU copies at once" : "a copy's launch and PCIe latency";
    made.pageable_gb_per_s = cpu_ ? assumed(rate, "as pinned: a CPU knows no difference")
                                  : assumed(rate / 2, "half of a pinned copy");
    made.d2h_gb_per_s = assumed(rate, "as to the device");
    made.peer_gb_per_s = assumed(rate, "as to the device");
    made.h2d_us = made.d2h_us = made.peer_us = assumed(latency_us, latency);
    made.launch_us = cpu_ ? assumed(0, "a CPU computes where it is called")
                          : assumed(5, "an asynchronous launch with CUDA on a server processor");
    made.memory_gb_per_s = cpu_ ? assumed(2 * rate, "a copy to the device reads and writes memory")
                                : assumed(900, "no row tells; as v100-article");
    const double memory_bytes =
        cpu_ ? double(largest.machine.memory_bytes.value_or(0)) : readings.memory_bytes.value_or(0);
    made.memory_gib = memory_bytes > 0
                          ? measured(memory_bytes / double(1 << 30), {&largest},
                                     cpu_ ? "the machine's memory" : "device.settings.memory_bytes")
                          : assumed(0, "the record does not say; nothing depends on it");
  }

  // The largest row whose all-reduces were measured alone: bytes over each link, as nccl-tests' bus
  // bandwidth.
  void set_collectives(EmulatedDevice& made) const {
    made.collective_us =
        assumed(cpu_ ? 0 : 5.7,
                cpu_ ? "the rate contains it" : "NCCL's tuning constants, latency of a hop over PCIe");
    double most = 0;
    for (const Record* record : several_) {
      double bytes = 0;
      for (const RecordMessage& message : record->communication->all_reduces) bytes += double(message.bytes);
      const double ms = record->communication->ceiling_ms.value_or(0), ranks = double(record->world_size);
      if (bytes <= most || ms <= 0) continue;
      most = bytes;
      made.collective_gb_per_s =
          measured(2 * (ranks - 1) / ranks * bytes / ms * 1e-6, {record},
                   fmt::format("communication.ceiling_ms of {} ranks, {:.1f} MB", ranks, bytes * 1e-6));
    }
    if (most == 0)
      made.collective_gb_per_s =
          assumed(made.peer_gb_per_s.value, "as between two devices: no row with several ranks");
  }

  const std::string run_;
  const RecordList single_, several_;
  const bool cpu_;
};

}  // namespace

EmulatedDevice calibrate(const Records& records, const std::vector<std::string>& rows,
                         const std::string& name, const std::string& run) {
  const CalibrationRows used = rows_to_calibrate_from(records, rows);
  return Calibration(run, used.single, used.several).device(name);
}

}  // namespace harness
