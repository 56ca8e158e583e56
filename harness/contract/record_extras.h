// Parts that only some records have: links between nodes, GPUs, traces, object stores.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

// Bytes on the link of one node during the timed batches, and the bytes expected from the collectives.
struct LinkNode {
  int64_t node = 0, sent_bytes = 0, received_bytes = 0, expected_sent_bytes = 0, expected_received_bytes = 0;
  std::string interface;
  KEYS(LinkNode, KEY(node, "number of the node"), KEY(interface, "network device whose counters were read"),
       KEY(sent_bytes, "bytes that its link sent, including headers"),
       KEY(received_bytes, "bytes that its link received, including headers"),
       KEY(expected_sent_bytes, "sent bytes that the formula gives"),
       KEY(expected_received_bytes, "received bytes that the formula gives"));
};

struct RecordLink {
  std::vector<LinkNode> nodes;
  std::string formula;
  KEYS(RecordLink, KEY(nodes, "one entry per node"), KEY(formula, "formula of the expected bytes: ring"));
};

struct Spread {
  double mean = 0, min = 0, max = 0;
  KEYS(Spread, KEY(mean, "mean of the samples"), KEY(min, "lowest sample"), KEY(max, "highest sample"));
};

// What the driver tells about a GPU at the end of the timed batches.
struct GpuFacts {
  std::string uuid, driver;
  std::map<std::string, double> figures;
  KEYS(
      GpuFacts, WHEN_SET(uuid, "the driver's name of this very GPU"),
      WHEN_SET(driver, "version of the driver"),
      WHEN_SET(
          figures,
          "by name: `numa_node`; the PCIe link's `pcie_generation` and `pcie_width` (lanes), and what GPU and "
          "slot are able to (`pcie_max_generation`, `pcie_max_width`); active `nvlinks`; `max_sm_clock_mhz`, "
          "`max_memory_clock_mhz`; 1 or 0 for `ecc`, `mig`, `persistence`, `remapping_pending`, `remapping_failed`, "
          "`retired_pages_pending`; `remapped_rows` of its memory; since the driver was loaded uncorrected "
          "`ecc_errors` and `nvlink_errors` of all links; from Hopper on the means of "
          "counters over the timed batches, as the metrics of these names: `sm_active`, `sm_occupancy`, "
          "`tensor_active`, `dram_active`, `pcie_sent_gb_per_s`, `pcie_received_gb_per_s`, "
          "`nvlink_sent_gb_per_s`, `nvlink_received_gb_per_s`"));
  std::optional<double> figure(const std::string& name) const {
    const auto found = figures.find(name);
    return found == figures.end() ? std::nullopt : std::optional(found->second);
  }
};

// Readings of all GPUs of one rank.
struct RankGpu {
  int64_t rank = 0, samples = 0;
  std::optional<Spread> utilisation_percent, memory_utilisation_percent, sm_clock_mhz, memory_clock_mhz,
      power_w, temperature_c;
  std::optional<double> throttled_share, energy_j, joules_per_image;
  std::optional<std::vector<std::string>> throttle_reasons;
  std::vector<GpuFacts> devices;
  KEYS(RankGpu, KEY(rank, "rank whose GPUs these are"), KEY(samples, "readings during the timed batches"),
       WHEN_SET(utilisation_percent, "share of time in which a kernel ran"),
       WHEN_SET(memory_utilisation_percent, "share of time in which memory was read or written"),
       WHEN_SET(sm_clock_mhz, "clock of the multiprocessors"),
       WHEN_SET(memory_clock_mhz, "clock of the memory"), WHEN_SET(power_w, "power of the board"),
       WHEN_SET(temperature_c, "temperature of the chip"),
       WHEN_SET(throttled_share, "share of samples with throttled clocks, 0-1"),
       WHEN_SET(throttle_reasons, "reasons for throttling, by NVML's names"),
       WHEN_SET(energy_j, "energy over the window"),
       WHEN_SET(joules_per_image, "energy_j / images of the rank"), WHEN_SET(devices, "one entry per GPU"));
};

struct RankTrace {
  int64_t rank = 0;
  double gpu_busy_share = 0, gpu_kernel_share = 0, gpu_copy_share = 0, host_waits_per_batch = 0;
  KEYS(RankTrace, KEY(rank, "rank whose GPUs these are"),
       KEY(gpu_busy_share, "share of the traced time with any work on the GPUs, 0-1"),
       KEY(gpu_kernel_share, "share of the traced time with kernels, 0-1"),
       KEY(gpu_copy_share, "share of the traced time with copies, 0-1"),
       KEY(host_waits_per_batch, "CUDA calls per batch in which the host waits"));
};

struct RecordTrace {
  std::optional<int64_t> first, last;
  std::string file;
  std::vector<RankTrace> ranks;
  KEYS(RecordTrace, WHEN_SET(first, "first traced batch, timed ones counted from 0"),
       WHEN_SET(last, "last traced batch"),
       WHEN_SET(file,
                "path of the trace in the run's folder: the operators of every rank as recorded by "
                "Kineto, phases, collectives, and each batch's spans (ms); ranks of several hosts "
                "are aligned by their system clocks"),
       WHEN_SET(ranks, "by rank, only on GPUs"));
};

struct RecordObjectStore {
  std::string server, url, link, mount;
  double rate_mbit = 0, latency_ms = 0;
  std::optional<int64_t> received_bytes, cache_limit_bytes, cache_bytes;
  KEYS(RecordObjectStore, KEY(server, "program and version of the server"), KEY(url, "address of the server"),
       KEY(link, "veth or loopback"), KEY(rate_mbit, "rate of the link, 0: unshaped"),
       KEY(latency_ms, "round-trip latency that the link adds"),
       KEY(received_bytes,
           "bytes over the shaped link to the ranks during the whole row, including filling the cache, "
           "ceilings and headers; null over loopback"),
       WHEN_SET(mount, "version of rclone, which mounts the store"),
       WHEN_SET(cache_limit_bytes, "size limit of rclone's cache"),
       WHEN_SET(cache_bytes, "size of rclone's cache at the end"));
};

}  // namespace harness
