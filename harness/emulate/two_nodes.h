// Two nodes on one machine: network namespaces with a host name each, joined by a veth pair. They have no
// name in the file system and live only as long as their holders, processes that end when the pipe to this
// process closes; so nothing is left behind however this process ends.
#pragma once
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace harness {

class TwoNodes {
 public:
  // rate_mbit: what each direction of the link carries at most, 0: as fast as the machine can. latency_ms:
  // what the link adds to the time there and back, half of it in each direction. Works as root, and without
  // where the kernel lets users make namespaces. Throws std::runtime_error saying what is missing.
  explicit TwoNodes(double rate_mbit, double latency_ms = 0);
  ~TwoNodes();  // also ends what still runs in the nodes
  TwoNodes(const TwoNodes&) = delete;
  TwoNodes& operator=(const TwoNodes&) = delete;

  // To be put before a command that is to run in a node.
  std::vector<std::string> enter(int node) const;
  // The same for a command that already runs in the other node.
  std::vector<std::string> cross(int node) const;
 private:
  struct Holder {
    pid_t pid = 0;
    int pipe = -1;
  };
  void hold(int node);
  void shape(int node, double rate_mbit, double latency_ms) const;
  void run_in(int node, const std::vector<std::string>& command) const;
  std::vector<pid_t> processes() const;
  void remove();

  bool user_namespace_;
  std::array<Holder, 2> holders_;
};

// Why two nodes can't be made here; empty when they can. Tried once.
const std::string& why_no_two_nodes();
// The same for a link with latency: the kernel must be able to hold packets back.
const std::string& why_no_latency();

}  // namespace harness
