// Metrics of the batches' times, the step, communication and phases; and of GPUs: energy, and what their
// drivers counted.
#include "harness/report/metrics.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {

namespace {

using Value = std::optional<double>;

// From the times of the batches; nullopt for a row that ran without phase clock.
Metric of_run(const std::string& name, const std::string& unit, const std::string& description,
              const std::function<Value(const RunStatistics&)>& figure) {
  return {name, unit, description,
          [figure](const SummaryRow& row) { return row.run.has_samples ? figure(row.run) : std::nullopt; }};
}

// Nullopt for 0, which means that the figure is absent.
Metric of_communication(const std::string& name, const std::string& unit, const std::string& description,
                        const std::function<Value(const Communication&)>& figure) {
  return {name, unit, description, [figure](const SummaryRow& row) {
            return row.communication ? if_any(figure(*row.communication).value_or(0)) : std::nullopt;
          }};
}

Metric followed(Metric metric, Better better = Better::lower) {
  metric.better = better;
  return metric;
}

// Of phase load over all ranks, in the first batches or in the later ones.
Value mean_load(const SummaryRow& row, bool later) {
  constexpr size_t kStartUp = 50;  // after these, the article's LMDB keeps the device busy
  const Samples& samples = phase_samples(*row.record);
  const auto ranks = samples.find("load");
  if (ranks == samples.end()) return std::nullopt;
  double sum = 0, count = 0;
  for (const std::vector<double>& batches : ranks->second)
    for (size_t i = 0; i < batches.size(); ++i)
      if ((i >= kStartUp) == later) sum += batches[i], ++count;
  return count > 0 ? Value(sum / count) : std::nullopt;
}

Value of_phase(const RunStatistics& run, const std::string& name, double PhaseStatistics::*figure) {
  for (const PhaseStatistics& phase : run.phases)
    if (phase.name == name && phase.mean_ms > 0) return phase.*figure;
  return std::nullopt;
}

}  // namespace

std::vector<Metric> step_metrics() {
  using Run = RunStatistics;
  const std::string interval = "end of the 95 % interval of the median within one run, not for comparisons";
  return {
      of_run("mean_ms", "ms", "mean step (the slowest rank's sum of phases in a batch)", &Run::mean_ms),
      followed(of_run("median_ms", "ms", "median step", &Run::median_ms)),
      of_run("median_within_run_ci_low_ms", "ms", "lower " + interval,
             [](const Run& run) { return run.median_ci_ms ? Value(run.median_ci_ms->low) : std::nullopt; }),
      of_run("median_within_run_ci_high_ms", "ms", "upper " + interval,
             [](const Run& run) { return run.median_ci_ms ? Value(run.median_ci_ms->high) : std::nullopt; }),
      of_run("iqr_share", "", "interquartile range / median of the steps", &Run::iqr_share),
      of_run("p5_ms", "ms", "5th percentile of the steps", &Run::p5_ms),
      of_run("p95_ms", "ms", "95th percentile of the steps", &Run::p95_ms),
      followed(of_run("p99_ms", "ms", "99th percentile of the steps", &Run::p99_ms)),
      of_run("max_ms", "ms", "longest step", &Run::max_ms),
      of_run("startup_ms", "ms", "first step, if the window begins with it", &Run::startup_ms),
      {.name = "skew_ms",
       .unit = "ms",
       .description = "slowest minus fastest rank, median over the batches; only rows with several ranks",
       .figure =
           [](const SummaryRow& row) {
             return row.record->world_size > 1 && row.run.has_samples ? Value(row.run.skew_ms) : std::nullopt;
           },
       .better = Better::lower},
      {"load_first_50_ms", "ms", "phase load in the first 50 timed batches, mean over ranks and batches",
       [](const SummaryRow& row) { return mean_load(row, false); }},
      {"load_later_ms", "ms", "phase load in the later timed batches, likewise",
       [](const SummaryRow& row) { return mean_load(row, true); }},
      {"copied_images", "images", "images in one copy from host to device: batch / ranks",
       [](const SummaryRow& row) {
         return Value(double(row.config.batch) / std::max(1.0, double(row.record->world_size)));
       }},
      of_run("rho_1", "", "autocorrelation of neighbouring steps", &Run::rho_1),
      of_run("tau_int", "batches", "integrated autocorrelation time", &Run::tau_int),
      of_run("n_eff", "batches", "effective number of independent batches: timed batches / tau_int",
             &Run::n_eff),
      of_run("drift_share", "", "median step of the last third / median step of the first third - 1",
             [](const Run& run) { return run.batches >= 3 ? Value(run.drift_share) : std::nullopt; }),
      of_run("drift_ci_low", "", "lower end of the 95 % interval of drift_share",
             [](const Run& run) { return run.drift_ci ? Value(run.drift_ci->low) : std::nullopt; }),
      of_run("drift_ci_high", "", "upper end of the 95 % interval of drift_share",
             [](const Run& run) { return run.drift_ci ? Value(run.drift_ci->high) : std::nullopt; }),
  };
}

std::vector<Metric> communication_metrics() {
  using It = Communication;
  return {
      of_communication("all_reduced_bytes_per_batch", "bytes", "bytes that one rank all-reduces",
                       &It::all_reduced_bytes),
      of_communication("all_reduces_per_batch", "count", "all-reduces in the last batch",
                       [](const It& it) { return double(it.messages.size()); }),
      followed(of_communication("communication_ms", "ms",
                                "time per batch with at least one collective posted and not done",
                                &It::under_way_ms)),
      {.name = "exposed_ms",
       .unit = "ms",
       .description =
           "communication per batch that computing did not hide: phases broadcast and sync, waits of SyncBN",
       .figure =
           [](const SummaryRow& row) {
             return row.communication && row.run.has_samples ? Value(row.communication->exposed_ms)
                                                             : std::nullopt;
           },
       .better = Better::lower},
      of_communication("sync_bn_ms", "ms", "waits of SyncBN layers for other ranks, in forward and backward",
                       &It::sync_bn_ms),
      of_communication("all_reduces_alone_ms", "ms",
                       "time of the last batch's all-reduces with nothing else running", &It::alone_ms),
      of_communication("link_bytes_share", "",
                       "bytes that a node's link counted / bytes that the collectives must send",
                       &It::link_share),
  };
}

std::vector<Metric> phase_metrics() {
  std::vector<Metric> list;
  for (const std::string& name : phase_names()) {
    list.push_back(
        of_run(name + "_share", "", "share of phase " + name + " in the mean step, 0-1",
               [name](const RunStatistics& run) { return of_phase(run, name, &PhaseStatistics::share); }));
    list.push_back(of_run(
        name + "_median_ms", "ms", "time of phase " + name + ", mean over ranks, median over batches",
        [name](const RunStatistics& run) { return of_phase(run, name, &PhaseStatistics::median_ms); }));
  }
  return list;
}

// Mean over the GPUs that have it.
static std::optional<double> count_of(const Record& record, const std::string& name) {
  double sum = 0, gpus = 0;
  for (const RankGpu& rank : record.gpu)
    for (const GpuFacts& gpu : rank.devices)
      if (const auto figure = gpu.figure(name)) sum += *figure, ++gpus;
  return gpus > 0 ? std::optional(sum / gpus) : std::nullopt;
}

std::vector<Metric> gpu_metrics() {
  std::vector<Metric> list = {
      {.name = "joules_per_image",
       .unit = "J",
       .description = "energy of all GPUs over the timed batches / their images, median of the repeats",
       .figure = [](const SummaryRow& row) { return measured_joules_per_image(row.records); },
       .header = "J/img",
       .only_where_known = true}};
  struct Counted {
    std::string name, unit, description;
  };
  for (const auto& [name, unit, description] :
       {Counted{"sm_active", "", "share of the time and multiprocessors with a warp, mean over GPUs"},
        Counted{"sm_occupancy", "", "warps on the multiprocessors / the most they hold"},
        Counted{"tensor_active", "", "share of the time and multiprocessors with tensor-core operations"},
        Counted{"dram_active", "", "bandwidth of the GPU's memory used / its peak"},
        Counted{"pcie_sent_gb_per_s", "GB/s", "PCIe traffic from a GPU"},
        Counted{"pcie_received_gb_per_s", "GB/s", "PCIe traffic to a GPU"},
        Counted{"nvlink_sent_gb_per_s", "GB/s", "traffic from a GPU over all its NVLinks"},
        Counted{"nvlink_received_gb_per_s", "GB/s", "traffic to a GPU over all its NVLinks"}})
    list.push_back({name, unit, description,
                    [name = name](const SummaryRow& row) { return count_of(*row.record, name); }});
  return list;
}

}  // namespace harness
