// The process group of a row and its communication backends. Each backend is one file in this folder.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/registry/registry.h"
#include "bench/train/clock/traffic.h"
#include "harness/contract/record_parts.h"

namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace bench {

// A rank's place from its launcher's environment variables: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE
// and GROUP_RANK (the node) of torchrun and the harness, otherwise those of OpenMPI's mpirun or Slurm's srun.
// Rank 0 listens at MASTER_ADDR:MASTER_PORT; MASTER_LISTEN_FD is an already listening socket for it (-1:
// none).
struct RankInfo {
  int rank = 0, world_size = 1, local_rank = 0, local_world_size = 1, node = 0;
  std::string master_addr = "127.0.0.1";
  int master_port = 0;
  int listen_fd = -1;
};
// Rank 0 of 1 if no variable is set. Throws std::invalid_argument for a value that is not a number, a rank
// outside its world size, and a MASTER_ADDR that does not resolve.
RankInfo rank_from_environment();

struct GroupOptions {
  RankInfo rank;
  std::string interface = "lo";  // network interface that carries the collectives
  std::string link = "none";     // the row field `link`
  bool emulated_link = false;    // see LinkOptions::emulated
  double link_mbit = 0;          // what an emulated device's link carries at most; 0: what the real one does
  std::filesystem::path logs = {};  // folder for the backend's log files; empty: none
  c10d::Store* store = nullptr;     // where the ranks meet; null: they open a store at rank 0's address
};

// One per process. All members except nccl() must be called from the training thread, and barrier(),
// gather() and the first call of each process-group getter by every rank in the same order.
class Group {
 public:
  virtual ~Group() = default;
  virtual void barrier() = 0;
  // Collects one text per rank: rank 0 gets all in rank order, other ranks an empty list. Blocks until rank 0
  // has received all.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  // The process group that strategies pass to LibTorch; null with one process. Owned by this object.
  virtual c10d::ProcessGroup* process_group() { return nullptr; }
  // A second process group of the same ranks, for a strategy that communicates from its own thread: its
  // collectives are not ordered with those of the first. Created at the first call.
  virtual c10d::ProcessGroup* separate_process_group() { return nullptr; }
  // While on, collectives of both process groups except barriers return at once with this rank's own values.
  // Call it on every rank, while none is under way.
  virtual void mute_collectives(bool) {}
  // The traffic of both process groups; null with one process.
  virtual Traffic* traffic() { return nullptr; }
  // Calls `collectives`; RankNccl::choices for them, if this rank logs it. Collective; not during the slice,
  // because NCCL writes a line for each.
  virtual std::map<std::string, std::string> nccl_choices(const std::function<void()>&) { return {}; }
  // Facts about this rank's NCCL for the record. Call after the slice.
  virtual std::optional<harness::RankNccl> nccl() const { return std::nullopt; }
};

using GroupFactory = std::function<std::unique_ptr<Group>(const GroupOptions&)>;
using GroupRegistry = Registry<GroupFactory>;

}  // namespace bench
