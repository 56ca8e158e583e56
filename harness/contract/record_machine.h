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
  static constexpr auto keys() {
    return known_keys(
        Required{"kind", &RecordDevice::kind, "cpu, cuda, emulated or own (a user's job)"},
        WhenSet{"name", &RecordDevice::name, "name of the processor or GPU"},
        WhenSet{"label", &RecordDevice::label, "name shown in plots, e.g. `4 CPU replicas`"},
        WhenSet{"driver", &RecordDevice::driver, "version of a GPU's driver"},
        WhenSet{
            "settings", &RecordDevice::settings,
            "only on GPUs: memory, compute capability, peak memory allocated and reserved, bytes and rate of "
            "the copies of batches (`h2d_bytes`, `h2d_gb_per_s`), cuDNN, nvJPEG, TF32; on emulated devices the peak of what tensors held "
            "(`peak_allocated_bytes`; of all devices of the process `peak_allocated_bytes_by_device`), how "
            "far the host was behind them (`lag_median_ms`, `lag_worst_ms`: of each batch the wait at which "
            "it was closest; `waits`: how often it waited) and how uncertain the arrival of bytes from other "
            "nodes is (`uncertain_arrival_median_ms`: sum over a batch; 0 on one machine)"});
  }
};

struct RecordPrecision {
  std::string name, sixteen_bit, computed_in, label;
  static constexpr auto keys() {
    return known_keys(
        Key{"name", &RecordPrecision::name, "precision of the row"},
        Key{"sixteen_bit", &RecordPrecision::sixteen_bit, "16-bit type used, or empty"},
        WhenSet{"computed_in", &RecordPrecision::computed_in,
                "`float32` where the processor has no 16-bit instructions: convolutions and matrix "
                "products widen their 16-bit operands to it and round the results; the row's speed "
                "is not that of 16 bit"},
        Key{"label", &RecordPrecision::label,
            "name shown in tables, e.g. `O2 in bf16` or `O2 in bf16, computed in float32`"});
  }
};

struct RecordMachine {
  std::string host, cpu, governor, kernel, os, fingerprint, environment, cores_limited_by;
  std::optional<int64_t> cores, memory_bytes;
  std::optional<double> quota_cores;
  std::vector<std::string> sixteen_bit_instructions;
  std::optional<bool> virtual_machine;
  static constexpr auto keys() {
    return known_keys(
        Key{"host", &RecordMachine::host, "host name"},
        Key{"cpu", &RecordMachine::cpu, "model of the processor"},
        Key{"cores", &RecordMachine::cores,
            "cores that the run may use: in its affinity mask, at most the quota rounded up"},
        WhenSet{"quota_cores", &RecordMachine::quota_cores,
                "tightest quota of the run's cgroup and those above it, in cores"},
        WhenSet{"cores_limited_by", &RecordMachine::cores_limited_by,
                "what keeps the run from using all cores, e.g. `the quota of cgroup /a/b`"},
        Key{"memory_bytes", &RecordMachine::memory_bytes, "memory that the run may use"},
        Key{"sixteen_bit_instructions", &RecordMachine::sixteen_bit_instructions,
            "instruction sets for 16-bit types, e.g. avx512_bf16"},
        Key{"virtual_machine", &RecordMachine::virtual_machine, "whether it runs under a hypervisor"},
        Key{"governor", &RecordMachine::governor, "frequency governor of the processor"},
        Key{"kernel", &RecordMachine::kernel, "name and release of the kernel"},
        Key{"os", &RecordMachine::os, "distribution"},
        WhenSet{"fingerprint", &RecordMachine::fingerprint, "only in nights: the hardware in words"},
        WhenSet{"environment", &RecordMachine::environment,
                "only in nights: an environment that can't be split into its parts"});
  }
};

struct RecordBuild {
  std::string revision, compiler, type, flags, sanitize, libtorch;
  static constexpr auto keys() {
    return known_keys(
        Key{"revision", &RecordBuild::revision, "revision of the sources, -dirty with uncommitted changes"},
        Key{"compiler", &RecordBuild::compiler, "name and version"},
        Key{"type", &RecordBuild::type, "CMake's build type"},
        Key{"flags", &RecordBuild::flags, "compiler flags"},
        Key{"sanitize", &RecordBuild::sanitize, "sanitizers, or empty"},
        Key{"libtorch", &RecordBuild::libtorch, "version of LibTorch at build time"});
  }
};

struct RecordEnvironment {
  std::optional<double> load_average, steal_share;
  std::optional<int64_t> throttled_periods;
  std::optional<double> window_steal_share, window_outside_share, window_busy_share, window_own_s,
      clock_change;
  static constexpr auto keys() {
    return known_keys(
        Key{"load_average", &RecordEnvironment::load_average, "load average before the row"},
        Key{"steal_share", &RecordEnvironment::steal_share,
            "share of the row's time that the hypervisor took, 0-1"},
        Key{"throttled_periods", &RecordEnvironment::throttled_periods,
            "periods in which a limit on processor time stopped the row"},
        WhenSet{"window_steal_share", &RecordEnvironment::window_steal_share,
                "share of the row's cores that the hypervisor took in the timed batches, 0-1"},
        WhenSet{"window_outside_share", &RecordEnvironment::window_outside_share,
                "share of them that processes outside the row took from it, 0-1"},
        WhenSet{"window_busy_share", &RecordEnvironment::window_busy_share,
                "share of them in which they ran some process or the kernel for one, 0-1"},
        WhenSet{"window_own_s", &RecordEnvironment::window_own_s,
                "processor time of the ranks and the processes that they started in the timed batches"},
        WhenSet{"clock_change", &RecordEnvironment::clock_change,
                "how much faster the clock of a rank's core was after the timed batches than before; "
                "-0.1: 10 % slower; of the rank with the largest change"});
  }
};

struct NcclTransport {
  int64_t channels = 0;
  std::vector<int64_t> peers;
  static constexpr auto keys() {
    return known_keys(Key{"channels", &NcclTransport::channels, "number of channels from this rank"},
                      Key{"peers", &NcclTransport::peers, "the ranks at their ends"});
  }
};

struct NcclVariable {
  std::string value, set_by;
  static constexpr auto keys() {
    return known_keys(Key{"value", &NcclVariable::value, "of the variable"},
                      Key{"set_by", &NcclVariable::set_by, "row or user"});
  }
};

struct RankNccl {
  std::string version, network, asked_network, note;
  std::map<std::string, NcclTransport> transports;
  std::map<std::string, NcclVariable> environment;
  std::map<std::string, std::string> choices = {};
  static constexpr auto keys() {
    return known_keys(
        Key{"version", &RankNccl::version, "e.g. 2.28.9+cuda13.0, or empty"},
        Key{"network", &RankNccl::network, "between nodes, as NCCL chose it"},
        WhenSet{"asked_network", &RankNccl::asked_network, "that the link requests; absent with one node"},
        Key{"transports", &RankNccl::transports, "by name, e.g. NET/Socket"},
        Key{"environment", &RankNccl::environment, "NCCL's variables by name"},
        WhenSet{"choices", &RankNccl::choices,
                "of rank 0: algorithm and protocol by collective and size, for the last batch's "
                "all-reduces and for barriers, which are small all-reduces"},
        WhenSet{"note", &RankNccl::note, "when NCCL's log names no channel"});
  }
};

// The place of a rank: node, host, device and cores.
struct RankPlace {
  int64_t rank = 0, node = 0;
  std::string host, device;
  std::vector<int64_t> cpus;
  std::optional<RankNccl> nccl;
  static constexpr auto keys() {
    return known_keys(Key{"rank", &RankPlace::rank, "number of the rank"},
                      Key{"node", &RankPlace::node, "node that it runs on"},
                      Key{"host", &RankPlace::host, "host name of the node"},
                      Key{"device", &RankPlace::device, "its device, e.g. cpu:0"},
                      Key{"cpus", &RankPlace::cpus, "cores that it may use"},
                      WhenSet{"nccl", &RankPlace::nccl, "what NCCL chose, with backend nccl"});
  }
};

}  // namespace harness
