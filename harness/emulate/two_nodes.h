// Two nodes on one machine: network namespaces with different host names, connected by a veth pair. The
// namespaces exist only while their holder processes run, which end when the pipe to this process closes; so
// they disappear with this process.
#pragma once
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "harness/base/file.h"

namespace harness {

class TwoNodes {
 public:
  // `rate_mbit`: rate limit of each direction of the link, 0: none. `latency_ms`: round-trip latency, half of
  // it in each direction. Needs root, or a kernel that allows unprivileged namespaces. Throws
  // std::runtime_error with what is missing.
  explicit TwoNodes(double rate_mbit, double latency_ms = 0);
  ~TwoNodes();  // kills all processes in the nodes
  TwoNodes(const TwoNodes&) = delete;
  TwoNodes& operator=(const TwoNodes&) = delete;

  // Prefix of a command, to run it in a node.
  std::vector<std::string> enter(int node) const;
  // The same, when called from the other node.
  std::vector<std::string> cross(int node) const;

 private:
  struct Holder {
    pid_t pid = 0;
    base::Descriptor pipe;  // its stdin: it ends when that closes
  };
  void hold(int node);
  void shape(int node, double rate_mbit, double latency_ms) const;
  void run_in(int node, const std::vector<std::string>& command) const;
  std::vector<pid_t> processes() const;
  void remove();

  bool user_namespace_;
  std::array<Holder, 2> holders_;
};

// Why two nodes can't be made on this machine; empty when they can. Tried at the first call; throws
// std::runtime_error where a signal ended the trial, which tells nothing of the machine.
const std::string& why_no_two_nodes();
// The same for a link with latency, which needs the kernel's netem.
const std::string& why_no_latency();

}  // namespace harness
