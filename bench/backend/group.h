// The processes of a row, and what they say to each other outside the timed batches. One backend is one file
// here.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/registry.h"

namespace c10d {
class ProcessGroup;
}

namespace bench {

// As torchrun, mpirun wrappers and the harness set it: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE,
// GROUP_RANK (the node), MASTER_ADDR, MASTER_PORT; MASTER_LISTEN_FD hands rank 0 a socket that already
// listens there.
struct RankInfo {
  int rank = 0, world_size = 1, local_rank = 0, local_world_size = 1, node = 0;
  std::string master_addr = "127.0.0.1";
  int master_port = 0;
  int listen_fd = -1;
};
RankInfo rank_from_environment();  // one process when nothing is set; throws on a value that is no number

struct GroupOptions {
  RankInfo rank;
  std::string interface = "lo";  // network interface that carries the collectives
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
};

using GroupFactory = std::function<std::unique_ptr<Group>(const GroupOptions&)>;
using GroupRegistry = Registry<GroupFactory>;

}  // namespace bench
