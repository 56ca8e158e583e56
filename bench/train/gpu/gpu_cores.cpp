// Reads the cores beside a GPU from sysfs and deals them out among the GPUs in use.
#include "bench/train/gpu/gpu_cores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>
#include <stdexcept>

#include "harness/base/file.h"
#include "harness/base/number.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(std::string pci_bus_id, const fs::path& sysfs) {
  std::transform(pci_bus_id.begin(), pci_bus_id.end(), pci_bus_id.begin(), ::tolower);  // CUDA: capitals
  return sysfs / "bus/pci/devices" / pci_bus_id;
}

// Of `available`, those in a list such as 0-15,32; none for a text that is no such list.
std::vector<int> cores_in(const std::string& list, const std::vector<int>& available) {
  std::vector<int> found;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0, last = 0;
    const int numbers = std::sscanf(range.c_str(), "%9d-%9d", &first, &last);
    if (numbers < 1) return {};
    std::copy_if(available.begin(), available.end(), std::back_inserter(found),
                 [&](int cpu) { return cpu >= first && cpu <= (numbers == 2 ? last : first); });
  }
  return found;
}

std::vector<int> cores_of(const std::string& pci_bus_id, const std::vector<int>& available,
                          const fs::path& sysfs) {
  if (base::first_line(sysfs / "devices/system/node/online") == "0")
    return available;  // all memory is as near
  const fs::path folder = folder_of(pci_bus_id, sysfs);
  const bool unknown = base::first_line(folder / "numa_node") == "-1";
  return cores_in(unknown ? "" : base::first_line(folder / "local_cpulist"), available);
}

}  // namespace

std::optional<int64_t> numa_node_of(const std::string& pci_bus_id, const fs::path& sysfs) {
  const auto node = base::number_of<int64_t>(base::first_line(folder_of(pci_bus_id, sysfs) / "numa_node"));
  return node && *node >= 0 ? node : std::nullopt;
}

RankCores cores_beside_gpus(const std::vector<std::vector<std::string>>& gpus_of_ranks, size_t rank,
                            const std::vector<int>& available, std::optional<int64_t> cores,
                            const fs::path& sysfs) {
  const size_t asked = std::min(size_t(cores.value_or(INT64_MAX)), available.size());
  std::vector<std::vector<int>> users;  // for each GPU in use, the cores beside it
  std::set<std::vector<int>> own;
  std::set<int> beside, dealt, taken;
  for (size_t other = 0; other < gpus_of_ranks.size(); ++other)
    for (const std::string& id : gpus_of_ranks[other]) {
      const std::vector<int>& cpus = users.emplace_back(cores_of(id, available, sysfs));
      if (other != rank) continue;
      if (cpus.empty())
        return {
            {available.begin(), available.begin() + long(asked)},
            {fmt::format("cores: not those beside GPU {}: {} is missing, numa_node is -1, or none of these "
                         "cores may be used",
                         id, (folder_of(id, sysfs) / "local_cpulist").string())}};
      own.insert(cpus);
      beside.insert(cpus.begin(), cpus.end());
    }
  if (!cores) return {{beside.begin(), beside.end()}, {}};
  for (size_t i = 0; i < asked; ++i) {
    const std::vector<int>& cpus = users[i % users.size()];
    const auto is_free = [&](int cpu) { return !dealt.contains(cpu); };
    auto cpu = std::find_if(cpus.begin(), cpus.end(), is_free);
    if (cpu == cpus.end()) cpu = std::find_if(available.begin(), available.end(), is_free);
    dealt.insert(*cpu);
    if (own.contains(cpus)) taken.insert(*cpu);
  }
  if (taken.empty()) taken.insert(*beside.begin());  // fewer cores than GPUs
  RankCores found{{taken.begin(), taken.end()}, {}};
  if (!std::includes(beside.begin(), beside.end(), taken.begin(), taken.end()))
    found.notes = {fmt::format("cores: fewer than {} are beside GPU {}, so others were added", taken.size(),
                               fmt::join(gpus_of_ranks[rank], ", "))};
  return found;
}

void bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw std::runtime_error(
        fmt::format("can't run on cores {} only: {}", fmt::join(cpus, ","), std::strerror(errno)));
}

}  // namespace bench
