// Copies of the data in each node's memory, for ranks on other machines.
#pragma once
#include <functional>
#include <set>

#include "harness/base/child_process.h"
#include "harness/data/data.h"

namespace harness {

// Returns a command that runs the given program once on every node of a run; without arguments when all ranks
// run on this machine.
using OnEveryNode = std::function<base::Command(const std::vector<std::string>& program)>;

class NodeCopies {
 public:
  // Makes the transient copies (tmpfs) of `data` on every node. All nodes must be able to access the folders
  // of the index and the images. Throws PreparationError.
  NodeCopies(const Installation& installation, const Data& data, const AxisValues& values,
             OnEveryNode on_every_node);
  ~NodeCopies();  // removes the copies
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

 private:
  OnEveryNode on_every_node_;
  std::set<std::string> locations_;
};

}  // namespace harness
