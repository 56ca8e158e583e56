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
  static constexpr auto keys() {
    return known_keys(
        Key{"node", &LinkNode::node, "number of the node"},
        Key{"interface", &LinkNode::interface, "network device whose counters were read"},
        Key{"sent_bytes", &LinkNode::sent_bytes, "bytes that its link sent, including headers"},
        Key{"received_bytes", &LinkNode::received_bytes, "bytes that its link received, including headers"},
        Key{"expected_sent_bytes", &LinkNode::expected_sent_bytes, "sent bytes that the formula gives"},
        Key{"expected_received_bytes", &LinkNode::expected_received_bytes,
            "received bytes that the formula gives"});
  }
};

struct RecordLink {
  std::vector<LinkNode> nodes;
  std::string formula;
  static constexpr auto keys() {
    return known_keys(Key{"nodes", &RecordLink::nodes, "one entry per node"},
                      Key{"formula", &RecordLink::formula, "formula of the expected bytes: ring"});
  }
};

struct Spread {
  double mean = 0, min = 0, max = 0;
  static constexpr auto keys() {
    return known_keys(Key{"mean", &Spread::mean, "mean of the samples"},
                      Key{"min", &Spread::min, "lowest sample"}, Key{"max", &Spread::max, "highest sample"});
  }
};

// What the driver tells about a GPU at the end of the timed batches.
struct GpuFacts {
  std::string uuid, driver;
  std::map<std::string, double> figures;
  static constexpr auto keys() {
    return known_keys(
        WhenSet{"uuid", &GpuFacts::uuid, "the driver's name of this very GPU"},
        WhenSet{"driver", &GpuFacts::driver, "version of the driver"},
        WhenSet{
            "figures", &GpuFacts::figures,
            "by name: `numa_node`; the PCIe link's `pcie_generation` and `pcie_width` (lanes), and what GPU and "
            "slot are able to (`pcie_max_generation`, `pcie_max_width`); active `nvlinks`; `max_sm_clock_mhz`, "
            "`max_memory_clock_mhz`; 1 or 0 for `ecc`, `mig`, `persistence`, `remapping_pending`, `remapping_failed`, "
            "`retired_pages_pending`; `remapped_rows` of its memory; since the driver was loaded uncorrected "
            "`ecc_errors` and `nvlink_errors` of all links; from Hopper on the means of "
            "counters over the timed batches, as the metrics of these names: `sm_active`, `sm_occupancy`, "
            "`tensor_active`, `dram_active`, `pcie_sent_gb_per_s`, `pcie_received_gb_per_s`, "
            "`nvlink_sent_gb_per_s`, `nvlink_received_gb_per_s`"});
  }
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
  static constexpr auto keys() {
    return known_keys(
        Key{"rank", &RankGpu::rank, "rank whose GPUs these are"},
        Key{"samples", &RankGpu::samples, "readings during the timed batches"},
        WhenSet{"utilisation_percent", &RankGpu::utilisation_percent, "share of time in which a kernel ran"},
        WhenSet{"memory_utilisation_percent", &RankGpu::memory_utilisation_percent,
                "share of time in which memory was read or written"},
        WhenSet{"sm_clock_mhz", &RankGpu::sm_clock_mhz, "clock of the multiprocessors"},
        WhenSet{"memory_clock_mhz", &RankGpu::memory_clock_mhz, "clock of the memory"},
        WhenSet{"power_w", &RankGpu::power_w, "power of the board"},
        WhenSet{"temperature_c", &RankGpu::temperature_c, "temperature of the chip"},
        WhenSet{"throttled_share", &RankGpu::throttled_share, "share of samples with throttled clocks, 0-1"},
        WhenSet{"throttle_reasons", &RankGpu::throttle_reasons, "reasons for throttling, by NVML's names"},
        WhenSet{"energy_j", &RankGpu::energy_j, "energy over the window"},
        WhenSet{"joules_per_image", &RankGpu::joules_per_image, "energy_j / images of the rank"},
        WhenSet{"devices", &RankGpu::devices, "one entry per GPU"});
  }
};

struct RankTrace {
  int64_t rank = 0;
  double gpu_busy_share = 0, gpu_kernel_share = 0, gpu_copy_share = 0, host_waits_per_batch = 0;
  static constexpr auto keys() {
    return known_keys(
        Key{"rank", &RankTrace::rank, "rank whose GPUs these are"},
        Key{"gpu_busy_share", &RankTrace::gpu_busy_share,
            "share of the traced time with any work on the GPUs, 0-1"},
        Key{"gpu_kernel_share", &RankTrace::gpu_kernel_share, "share of the traced time with kernels, 0-1"},
        Key{"gpu_copy_share", &RankTrace::gpu_copy_share, "share of the traced time with copies, 0-1"},
        Key{"host_waits_per_batch", &RankTrace::host_waits_per_batch,
            "CUDA calls per batch in which the host waits"});
  }
};

struct RecordTrace {
  std::optional<int64_t> first, last;
  std::string file;
  std::vector<RankTrace> ranks;
  static constexpr auto keys() {
    return known_keys(
        WhenSet{"first", &RecordTrace::first, "first traced batch, timed ones counted from 0"},
        WhenSet{"last", &RecordTrace::last, "last traced batch"},
        WhenSet{"file", &RecordTrace::file,
                "path of the trace in the run's folder: the operators of every rank as recorded by "
                "Kineto, phases, collectives, and each batch's spans (ms); ranks of several hosts "
                "are aligned by their system clocks"},
        WhenSet{"ranks", &RecordTrace::ranks, "by rank, only on GPUs"});
  }
};

struct RecordObjectStore {
  std::string server, url, link, mount;
  double rate_mbit = 0, latency_ms = 0;
  std::optional<int64_t> received_bytes, cache_limit_bytes, cache_bytes;
  static constexpr auto keys() {
    return known_keys(
        Key{"server", &RecordObjectStore::server, "program and version of the server"},
        Key{"url", &RecordObjectStore::url, "address of the server"},
        Key{"link", &RecordObjectStore::link, "veth or loopback"},
        Key{"rate_mbit", &RecordObjectStore::rate_mbit, "rate of the link, 0: unshaped"},
        Key{"latency_ms", &RecordObjectStore::latency_ms, "round-trip latency that the link adds"},
        Key{"received_bytes", &RecordObjectStore::received_bytes,
            "bytes over the shaped link to the ranks during the whole row, including filling the cache, "
            "ceilings and headers; null over loopback"},
        WhenSet{"mount", &RecordObjectStore::mount, "version of rclone, which mounts the store"},
        WhenSet{"cache_limit_bytes", &RecordObjectStore::cache_limit_bytes, "size limit of rclone's cache"},
        WhenSet{"cache_bytes", &RecordObjectStore::cache_bytes, "size of rclone's cache at the end"});
  }
};

}  // namespace harness
