// Compares the row's demand for processor time with the cores, and doubles the time scale until it fits.
#include "harness/run/time_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/config/row_traits.h"
#include "harness/experiment/policy/policy.h"
#include "harness/stats/closed_model.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

constexpr double kLaunch_s = 2e-3;  // processor time of a step's launches per device, measured with ResNet18
constexpr double kMostOfCores = 0.9;    // a loader that needs more of them falls behind now and then
constexpr double kUsualBytes = 115533;  // of a stand-in image

// One step of the whole batch on the row's devices.
double device_ms(const Record& planned) {
  if (const auto model = closed_model(planned)) return model->device_ms;
  const Row& row = planned.config;
  const PrecisionCosts* costs = find_costs(planned.emulation->device, row.model, row.precision);
  if (!costs) return 0;
  const double images = double(row.batch * planned.emulation->batch_divisor) / double(all_devices(row));
  return costs->step_ms(images);
}

// The limits that the row sets to its loader, in images/s in the time of its devices; 0: none.
double limit_of_loader(const Record& record) {
  const Row& row = record.config;
  const double images = double(record.data.images.value_or(0)), bytes = double(record.data.bytes.value_or(0));
  double limit = loader_images_per_s(row) * row.time_scale * double(row.nodes);
  const double read =
      row.read_rate * double(row.nodes) / (images > 0 && bytes > 0 ? bytes / images : kUsualBytes);
  if (read > 0) limit = limit > 0 ? std::min(limit, read) : read;
  return limit;
}

// Whether the loader threads spent more time with reading than with decoding.
bool waits_for_disk(const Record& record) {
  const auto sum = [&](const char* span) {
    double ms = 0;
    if (const auto found = record.spans_ms.find(span); found != record.spans_ms.end())
      for (const std::vector<double>& rank : found->second)
        ms = std::accumulate(rank.begin(), rank.end(), ms);
    return ms;
  };
  return sum("read") > sum("decode");
}

}  // namespace

Demand demand_of(const Record& planned, double decoded_images_per_s) {
  const Row& row = planned.config;
  const double batch = double(row.batch), step_ms = device_ms(planned);
  Demand demand;
  if (step_ms > 0) demand.images_per_s = batch * double(planned.emulation->batch_divisor) / step_ms * 1e3;
  if (const double limit = limit_of_loader(planned); limit > 0)
    demand.images_per_s = demand.images_per_s > 0 ? std::min(demand.images_per_s, limit) : limit;
  const double cores = double(planned.machine.cores.value_or(1));
  const double decoding = row.storage == "synthetic" ? 0 : cores / decoded_images_per_s;
  demand.core_s_per_image = decoding + kLaunch_s * double(all_devices(row)) / batch;
  return demand;
}

std::optional<double> measure_decoding(const Installation& installation, const Row& row) {
  const base::Finished finished =
      base::run_to_end({{installation.train_slice, "--probe-decoding", std::to_string(row.image_px)}});
  const auto answer = base::parse_json(finished.output);
  if (finished.exit_code != 0 || !answer.is_object()) return std::nullopt;
  const double rate = answer.value("images_per_s", 0.0);
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

int64_t time_scale_for(const Demand& demand, int64_t cores, int64_t slowest) {
  int64_t scale = 1;
  while (scale < slowest &&
         demand.images_per_s / double(scale) * demand.core_s_per_image > kMostOfCores * double(cores))
    scale *= 2;
  return scale;
}

void choose_time_scales(const RowSetting& setting, std::vector<PlannedRow>& plan,
                        double decoded_images_per_s) {
  for (PlannedRow& planned : plan) {
    Row& row = planned.row;
    if (!planned.skip_reason.empty() || computes(row.device, setting.values) || keeps_time_scale(row))
      continue;
    const Demand demand = demand_of(planned_record(setting, planned), decoded_images_per_s);
    row.time_scale =
        double(time_scale_for(demand, setting.machine.cores.value_or(1), setting.scale.slowest_time_scale));
    if (demand.images_per_s > 0)
      planned.expected_batch_s = double(row.batch) * row.time_scale / demand.images_per_s;
    planned.notes.push_back(fmt::format("time x {:g}", row.time_scale));
  }
}

std::optional<RecordCheck> check_of_cores(const Record& record) {
  const Row& row = record.config;
  if (!record.emulation || !emulates_cores(row) || !record.total_s) return std::nullopt;
  double waits = 0;
  for (const PhaseStatistics& phase : phase_statistics(record))
    if (phase.name == "load") waits = phase.share;
  const double images_per_s = double(row.batch) * double(row.timed_batches) / *record.total_s,
               limit = limit_of_loader(record) / row.time_scale;
  const bool ok = waits < kLoaderHoldsUp || images_per_s >= kReaches * limit || waits_for_disk(record);
  return RecordCheck{
      "cores", ok,
      fmt::format(
          "the devices waited {:.0f} % of the time for images; {:.0f} images/s of the {:.0f} that the "
          "emulated cores and storage allow{}",
          100 * waits, images_per_s, limit,
          ok ? "" : ": this machine's cores were too slow or busy with other programs")};
}

}  // namespace harness
