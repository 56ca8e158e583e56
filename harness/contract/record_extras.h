// What a record says only of some rows: links between nodes, GPUs, traces, object stores.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

// What the link of one node carried during the timed batches, and what the collectives must send.
struct LinkNode {
  int64_t node = 0, sent_bytes = 0, received_bytes = 0, expected_sent_bytes = 0, expected_received_bytes = 0;
  std::string interface;
  static constexpr auto keys() {
    return std::tuple(Key{"node", &LinkNode::node, "its number"},
                      Key{"interface", &LinkNode::interface, "network device that counted"},
                      Key{"sent_bytes", &LinkNode::sent_bytes, "what its link counted, headers included"},
                      Key{"received_bytes", &LinkNode::received_bytes, "the same"},
                      Key{"expected_sent_bytes", &LinkNode::expected_sent_bytes, "what the formula gives"},
                      Key{"expected_received_bytes", &LinkNode::expected_received_bytes, "the same"});
  }
};

struct RecordLink {
  std::vector<LinkNode> nodes;
  std::string formula;
  static constexpr auto keys() {
    return std::tuple(Key{"nodes", &RecordLink::nodes, "one entry each"},
                      Key{"formula", &RecordLink::formula, "what the expected bytes follow from: ring"});
  }
};

struct Spread {
  double mean = 0, min = 0, max = 0;
  static constexpr auto keys() {
    return std::tuple(Key{"mean", &Spread::mean, "of the samples"}, Key{"min", &Spread::min, "the lowest"},
                      Key{"max", &Spread::max, "the highest"});
  }
};

// Of the GPUs of one rank together.
struct RankGpu {
  int64_t rank = 0, samples = 0;
  std::optional<Spread> utilisation_percent, memory_utilisation_percent, sm_clock_mhz, memory_clock_mhz,
      power_w, temperature_c;
  std::optional<double> throttled_share, energy_j, joules_per_image;
  std::optional<std::vector<std::string>> throttle_reasons;
  static constexpr auto keys() {
    constexpr auto optional = Presence::when_set;
    return std::tuple(
        Key{"rank", &RankGpu::rank, "whose GPUs they are"},
        Key{"samples", &RankGpu::samples, "readings during the timed batches"},
        Key{"utilisation_percent", &RankGpu::utilisation_percent, "time in which some kernel ran", optional},
        Key{"memory_utilisation_percent", &RankGpu::memory_utilisation_percent,
            "time in which memory was read or written", optional},
        Key{"sm_clock_mhz", &RankGpu::sm_clock_mhz, "of the multiprocessors", optional},
        Key{"memory_clock_mhz", &RankGpu::memory_clock_mhz, "of the memory", optional},
        Key{"power_w", &RankGpu::power_w, "taken by the board", optional},
        Key{"temperature_c", &RankGpu::temperature_c, "of the chip", optional},
        Key{"throttled_share", &RankGpu::throttled_share, "of the samples, 0-1", optional},
        Key{"throttle_reasons", &RankGpu::throttle_reasons, "by NVML's names", optional},
        Key{"energy_j", &RankGpu::energy_j, "of the window", optional},
        Key{"joules_per_image", &RankGpu::joules_per_image, "energy_j / images of the rank", optional});
  }
};

struct RankTrace {
  int64_t rank = 0;
  double gpu_busy_share = 0, gpu_kernel_share = 0, gpu_copy_share = 0, host_waits_per_batch = 0;
  static constexpr auto keys() {
    return std::tuple(
        Key{"rank", &RankTrace::rank, "whose GPUs they are"},
        Key{"gpu_busy_share", &RankTrace::gpu_busy_share, "of the traced time, any work, 0-1"},
        Key{"gpu_kernel_share", &RankTrace::gpu_kernel_share, "of the traced time, kernels, 0-1"},
        Key{"gpu_copy_share", &RankTrace::gpu_copy_share, "of the traced time, copies, 0-1"},
        Key{"host_waits_per_batch", &RankTrace::host_waits_per_batch, "calls of CUDA that wait"});
  }
};

struct RecordTrace {
  std::optional<int64_t> first, last;
  std::string file;
  std::vector<RankTrace> ranks;
  static constexpr auto keys() {
    return std::tuple(
        Key{"first", &RecordTrace::first, "first traced batch, timed ones counted from 0",
            Presence::when_set},
        Key{"last", &RecordTrace::last, "last traced batch", Presence::when_set},
        Key{"file", &RecordTrace::file,
            "the trace, from the run's folder: the operators of every rank as Kineto saw them, phases, "
            "collectives, and per batch its spans (ms); ranks of several hosts lie as their system clocks do",
            Presence::when_set},
        Key{"ranks", &RecordTrace::ranks, "on GPUs", Presence::when_set});
  }
};

struct RecordObjectStore {
  std::string server, url, link, mount;
  double rate_mbit = 0, latency_ms = 0;
  std::optional<int64_t> received_bytes, cache_limit_bytes, cache_bytes;
  static constexpr auto keys() {
    return std::tuple(
        Key{"server", &RecordObjectStore::server, "program and version"},
        Key{"url", &RecordObjectStore::url, "where it answers"},
        Key{"link", &RecordObjectStore::link, "veth or loopback"},
        Key{"rate_mbit", &RecordObjectStore::rate_mbit, "of the link, 0: unshaped"},
        Key{"latency_ms", &RecordObjectStore::latency_ms, "added to each answer"},
        Key{"received_bytes", &RecordObjectStore::received_bytes,
            "what crossed the shaped link to the ranks over the whole row, filling of a cache, ceilings and "
            "headers included; null over loopback"},
        Key{"mount", &RecordObjectStore::mount, "version of the rclone that mounts", Presence::when_set},
        Key{"cache_limit_bytes", &RecordObjectStore::cache_limit_bytes, "of rclone's cache",
            Presence::when_set},
        Key{"cache_bytes", &RecordObjectStore::cache_bytes, "in it at the end", Presence::when_set});
  }
};

}  // namespace harness
