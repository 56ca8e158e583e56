// The processes of a row, and what they say to each other outside the timed batches. One backend is one file
// here.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/registry/registry.h"
#include "bench/train/clock/traffic.h"

namespace c10d {
class ProcessGroup;
}

namespace bench {

// A rank's place as its launcher tells it: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and GROUP_RANK (the
// node) as torchrun and the harness set them, else what OpenMPI's mpirun or Slurm's srun set. MASTER_ADDR and
// MASTER_PORT are where rank 0 listens; MASTER_LISTEN_FD hands it a socket that already does.
struct RankInfo {
  int rank = 0, world_size = 1, local_rank = 0, local_world_size = 1, node = 0;
  std::string master_addr = "127.0.0.1";
  int master_port = 0;
  int listen_fd = -1;
};
// One process when nothing is set. Throws std::invalid_argument on a value that is no number, on a rank
// outside its world, and on a MASTER_ADDR that does not resolve.
RankInfo rank_from_environment();

struct GroupOptions {
  RankInfo rank;
  std::string interface = "lo";  // network interface that carries the collectives
  std::string link = "none";     // the row's, and LinkOptions::emulated
  bool emulated_link = false;
  std::filesystem::path logs = {};  // folder for what a backend writes down of itself; empty: it doesn't
};

class Group {
 public:
  virtual ~Group() = default;
  virtual void barrier() = 0;
  // Collects one text per rank; rank 0 gets them in rank order, the others an empty list. Blocks until rank 0
  // has all.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  // What strategies hand to LibTorch; null with one process. Lives as long as the group.
  virtual c10d::ProcessGroup* process_group() { return nullptr; }
  // A second one of the same ranks, whose collectives need no order among those of the first: for a strategy
  // that communicates from a thread of its own. Made at the first call, which every rank must make.
  virtual c10d::ProcessGroup* separate_process_group() { return nullptr; }
  // What went over both; null with one process.
  virtual Traffic* traffic() { return nullptr; }
  // For the record, after the slice: what this rank's backend found out about itself.
  virtual nlohmann::json describe() const { return nlohmann::json::object(); }
};

struct Disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws Disagreement on rank 0 when `text`, e.g. a fingerprint of the configuration, isn't the same on all
// ranks; the others wait for rank 0's verdict, and end with it.
void require_agreement(Group& group, const RankInfo& rank, const std::string& text);

using GroupFactory = std::function<std::unique_ptr<Group>(const GroupOptions&)>;
using GroupRegistry = Registry<GroupFactory>;

}  // namespace bench
