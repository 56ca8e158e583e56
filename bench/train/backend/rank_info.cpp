// Reads a rank's place among the row's processes from its environment.
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "bench/train/backend/group.h"
#include "harness/base/number.h"

namespace bench {

// The first of these variables that is set.
static int number_from(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* variable : variables)
    if (const char* text = std::getenv(variable)) {
      const auto value = base::number_of<int>(text);
      if (!value) throw std::invalid_argument(fmt::format("{}={}: expected a whole number", variable, text));
      return *value;
    }
  return otherwise;
}

// Of one node in Slurm's numbers of tasks by node: `2(x3),1` is 2, 2, 2, 1. Empty for any other form.
static std::optional<int> tasks_of_node(const char* list, int node) {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t bracket = part.find("(x");
    const auto tasks = base::number_of<int>(part.substr(0, bracket));
    const auto nodes = bracket == std::string::npos
                           ? std::optional(1)
                           : base::number_of<int>(part.substr(bracket + 2, part.size() - bracket - 3));
    if (!tasks || !nodes) return std::nullopt;
    if ((node -= *nodes) < 0) return tasks;
  }
  return std::nullopt;
}

// Of the ranks that srun started without --ntasks-per-node.
static int slurm_ranks_of_node(int world_size) {
  for (const char* variable : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})
    if (const char* list = std::getenv(variable))
      if (const auto tasks = tasks_of_node(list, number_from({"SLURM_NODEID"}, 0))) return *tasks;
  const int nodes = number_from({"SLURM_NNODES"}, 1);
  if (nodes < 1 || world_size % nodes != 0)
    throw std::invalid_argument(
        fmt::format("Slurm says that {} nodes have {} ranks, but not how many this one has: start srun with "
                    "--ntasks-per-node, or set LOCAL_WORLD_SIZE",
                    nodes, world_size));
  return world_size / nodes;
}

// LibTorch's TCPStore would retry until its timeout of 30 minutes.
static void require_resolvable(const std::string& host) {
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found); error != 0)
    throw std::invalid_argument(
        fmt::format("MASTER_ADDR={}: the host can't be resolved ({}); name one that every node can reach",
                    host, ::gai_strerror(error)));
  ::freeaddrinfo(found);
}

RankInfo rank_from_environment() {
  RankInfo info;
  info.rank = number_from({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}, 0);
  info.world_size = number_from({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}, 1);
  info.local_rank = number_from({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}, info.rank);
  const bool by_slurm = std::getenv("SLURM_PROCID") && !std::getenv("WORLD_SIZE");
  info.local_world_size =
      number_from({"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}, 0);
  if (info.local_world_size == 0)
    info.local_world_size = by_slurm ? slurm_ranks_of_node(info.world_size) : info.world_size;
  // OpenMPI sets no node number, but every node of a row has the same number of consecutive ranks.
  info.node = number_from({"GROUP_RANK", "SLURM_NODEID"}, info.rank / std::max(1, info.local_world_size));
  if (const char* address = std::getenv("MASTER_ADDR")) info.master_addr = address;
  info.master_port = number_from({"MASTER_PORT"}, 0);
  info.listen_fd = number_from({"MASTER_LISTEN_FD"}, -1);
  if (info.rank < 0 || info.rank >= info.world_size)
    throw std::invalid_argument(
        fmt::format("RANK={} is not below WORLD_SIZE={}", info.rank, info.world_size));
  require_resolvable(info.master_addr);
  return info;
}

}  // namespace bench
