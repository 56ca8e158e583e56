// Parts of a record about its machine: devices, precision, host, build and disturbances.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

struct RecordDevice {
  std::string kind, name, label, driver;
  nlohmann::json settings;
  KEYS(
      RecordDevice, REQUIRED(kind, "cpu, cuda, emulated or own (a user's job)"),
      WHEN_SET(name, "name of the processor or GPU"),
      WHEN_SET(label, "name shown in plots, e.g. `4 CPU replicas`"),
      WHEN_SET(driver, "version of a GPU's driver"),
      WHEN_SET(
          settings,
          "only on GPUs: memory, compute capability, peak memory allocated and reserved, bytes and rate of "
          "the copies of batches (`h2d_bytes`, `h2d_gb_per_s`), cuDNN, nvJPEG, TF32; on emulated devices the peak of what tensors held "
          "(`peak_allocated_bytes`; of all devices of the process `peak_allocated_bytes_by_device`), how "
          "far the host was behind them (`lag_median_ms`, `lag_worst_ms`: of each batch the wait at which "
          "it was closest; `waits`: how often it waited) and how uncertain the arrival of bytes from other "
          "nodes is (`uncertain_arrival_median_ms`: sum over a batch; 0 on one machine)"));
};

struct RecordPrecision {
  std::string name, sixteen_bit, computed_in, label;
  KEYS(RecordPrecision, KEY(name, "precision of the row"), KEY(sixteen_bit, "16-bit type used, or empty"),
       WHEN_SET(computed_in,
                "`float32` where the processor has no 16-bit instructions: convolutions and matrix "
                "products widen their 16-bit operands to it and round the results; the row's speed "
                "is not that of 16 bit"),
       KEY(label, "name shown in tables, e.g. `O2 in bf16` or `O2 in bf16, computed in float32`"));
};

struct RecordMachine {
  std::string host, cpu, governor, kernel, os, fingerprint, environment, cores_limited_by;
  std::optional<int64_t> cores, memory_bytes;
  std::optional<double> quota_cores;
  std::vector<std::string> sixteen_bit_instructions;
  std::optional<bool> virtual_machine;
  KEYS(RecordMachine, KEY(host, "host name"), KEY(cpu, "model of the processor"),
       KEY(cores, "cores that the run may use: in its affinity mask, at most the quota rounded up"),
       WHEN_SET(quota_cores, "tightest quota of the run's cgroup and those above it, in cores"),
       WHEN_SET(cores_limited_by, "what keeps the run from using all cores, e.g. `the quota of cgroup /a/b`"),
       KEY(memory_bytes, "memory that the run may use"),
       KEY(sixteen_bit_instructions, "instruction sets for 16-bit types, e.g. avx512_bf16"),
       KEY(virtual_machine, "whether it runs under a hypervisor"),
       KEY(governor, "frequency governor of the processor"), KEY(kernel, "name and release of the kernel"),
       KEY(os, "distribution"), WHEN_SET(fingerprint, "only in nights: the hardware in words"),
       WHEN_SET(environment, "only in nights: an environment that can't be split into its parts"));
};

struct RecordBuild {
  std::string revision, compiler, type, flags, sanitize, libtorch;
  KEYS(RecordBuild, KEY(revision, "revision of the sources, -dirty with uncommitted changes"),
       KEY(compiler, "name and version"), KEY(type, "CMake's build type"), KEY(flags, "compiler flags"),
       KEY(sanitize, "sanitizers, or empty"), KEY(libtorch, "version of LibTorch at build time"));
};

struct RecordEnvironment {
  std::optional<double> load_average, steal_share;
  std::optional<int64_t> throttled_periods;
  std::optional<double> window_steal_share, window_outside_share, window_busy_share, window_own_s,
      clock_change;
  KEYS(RecordEnvironment, KEY(load_average, "load average before the row"),
       KEY(steal_share, "share of the row's time that the hypervisor took, 0-1"),
       KEY(throttled_periods, "periods in which a limit on processor time stopped the row"),
       WHEN_SET(window_steal_share,
                "share of the row's cores that the hypervisor took in the timed batches, 0-1"),
       WHEN_SET(window_outside_share, "share of them that processes outside the row took from it, 0-1"),
       WHEN_SET(window_busy_share, "share of them in which they ran some process or the kernel for one, 0-1"),
       WHEN_SET(window_own_s,
                "processor time of the ranks and the processes that they started in the timed batches"),
       WHEN_SET(clock_change,
                "how much faster the clock of a rank's core was after the timed batches than before; "
                "-0.1: 10 % slower; of the rank with the largest change"));
};

struct NcclTransport {
  int64_t channels = 0;
  std::vector<int64_t> peers;
  KEYS(NcclTransport, KEY(channels, "number of channels from this rank"),
       KEY(peers, "the ranks at their ends"));
};

struct NcclVariable {
  std::string value, set_by;
  KEYS(NcclVariable, KEY(value, "of the variable"), KEY(set_by, "row or user"));
};

struct RankNccl {
  std::string version, network, asked_network, note;
  std::map<std::string, NcclTransport> transports;
  std::map<std::string, NcclVariable> environment;
  std::map<std::string, std::string> choices = {};
  KEYS(RankNccl, KEY(version, "e.g. 2.28.9+cuda13.0, or empty"),
       KEY(network, "between nodes, as NCCL chose it"),
       WHEN_SET(asked_network, "that the link requests; absent with one node"),
       KEY(transports, "by name, e.g. NET/Socket"), KEY(environment, "NCCL's variables by name"),
       WHEN_SET(choices,
                "of rank 0: algorithm and protocol by collective and size, for the last batch's "
                "all-reduces and for barriers, which are small all-reduces"),
       WHEN_SET(note, "when NCCL's log names no channel"));
};

// The place of a rank: node, host, device and cores.
struct RankPlace {
  int64_t rank = 0, node = 0;
  std::string host, device;
  std::vector<int64_t> cpus;
  std::optional<RankNccl> nccl;
  KEYS(RankPlace, KEY(rank, "number of the rank"), KEY(node, "node that it runs on"),
       KEY(host, "host name of the node"), KEY(device, "its device, e.g. cpu:0"),
       KEY(cpus, "cores that it may use"), WHEN_SET(nccl, "what NCCL chose, with backend nccl"));
};

}  // namespace harness
