// Cores beside a GPU, on the same NUMA node, and how the ranks of a machine share them. No CUDA here.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The NUMA node of a GPU, as the kernel knows it. pci_bus_id: e.g. 0000:C1:00.0.
std::optional<int64_t> numa_node_of(const std::string& pci_bus_id,
                                    const std::filesystem::path& sysfs = "/sys");

struct RankCores {
  std::vector<int> cpus;
  std::vector<std::string> notes;  // why not all of them are beside the rank's GPUs; empty: all are
};

// The cores of rank `rank`. gpus_of_ranks: by rank of this machine, the PCI bus ids of its GPUs. available:
// the process's affinity mask. cores: how many of it all these ranks take together, dealt out among
// their GPUs; ranks with the same cores beside their GPUs share them. Without it, a rank takes all cores
// beside its GPUs. Where a GPU's cores are unknown or not available: the first `cores` available ones.
RankCores cores_beside_gpus(const std::vector<std::vector<std::string>>& gpus_of_ranks, size_t rank,
                            const std::vector<int>& available, std::optional<int64_t> cores,
                            const std::filesystem::path& sysfs = "/sys");

// Binds the calling thread and those that it starts from now on. Throws std::runtime_error.
void bind_to(const std::vector<int>& cpus);

}  // namespace bench
