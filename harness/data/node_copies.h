// Copies of the data that lie in a node's memory: with ranks on other machines every node needs its own.
#pragma once
#include <functional>
#include <set>

#include "harness/base/child_process.h"
#include "harness/data/data.h"

namespace harness {

// A command that runs the given program once on every node of a run; without arguments where all ranks run on
// this machine.
using OnEveryNode = std::function<base::Command(const std::vector<std::string>& program)>;

class NodeCopies {
 public:
  // Makes the copies of `data` that are transient (tmpfs) on every node. The index and the images must lie in
  // folders that all nodes see. Throws PreparationError.
  NodeCopies(const Installation& installation, const Data& data, const AxisValues& values,
             OnEveryNode on_every_node);
  ~NodeCopies();  // removes them again
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

 private:
  OnEveryNode on_every_node_;
  std::set<std::string> locations_;
};

}  // namespace harness
