// Metrics of GPUs: energy, and what their drivers counted.
#include "harness/report/metrics.h"
#include "harness/report/summary/energy.h"

namespace harness {

// Mean over the GPUs that have it.
static std::optional<double> counted(const Record& record, const std::string& name) {
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
    list.push_back(
        {name, unit, description, [name](const SummaryRow& row) { return counted(*row.record, name); }});
  return list;
}

}  // namespace harness
