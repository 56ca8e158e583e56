// Reads a rank's place among the row's processes from its environment.
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>

#include "bench/train/backend/group.h"
#include "harness/base/number.h"

namespace bench {

static int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  const auto value = base::number_of<int>(text);
  if (!value) throw std::invalid_argument(fmt::format("{}={}: expected a whole number", variable, text));
  return *value;
}

// The first of these variables that is set.
static int number_from(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* variable : variables)
    if (std::getenv(variable)) return number_from(variable, otherwise);
  return otherwise;
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
  info.local_world_size = number_from(
      {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}, info.world_size);
  // OpenMPI sets no node number, but every node of a row has the same number of consecutive ranks.
  info.node = number_from({"GROUP_RANK", "SLURM_NODEID"}, info.rank / std::max(1, info.local_world_size));
  if (const char* address = std::getenv("MASTER_ADDR")) info.master_addr = address;
  info.master_port = number_from("MASTER_PORT", 0);
  info.listen_fd = number_from("MASTER_LISTEN_FD", -1);
  if (info.rank < 0 || info.rank >= info.world_size)
    throw std::invalid_argument(
        fmt::format("RANK={} is not below WORLD_SIZE={}", info.rank, info.world_size));
  require_resolvable(info.master_addr);
  return info;
}

}  // namespace bench
