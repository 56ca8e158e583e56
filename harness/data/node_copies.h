// Copies of the data that lie in a node's memory: with ranks on other machines every node needs its own.
#pragma once
#include <set>

#include "harness/data/data.h"
#include "harness/launch/rank_commands.h"

namespace harness {

class NodeCopies {
 public:
  // Makes the copies of `data` that are transient (tmpfs) on every node of the rows' launcher. The index and
  // the images must lie in folders that all nodes see. Throws PreparationError.
  NodeCopies(const Workshop& workshop, const Request& request, const std::vector<Row>& rows, const Data& data,
             const AxisValues& values);
  ~NodeCopies();  // removes them again
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

 private:
  const Request& request_;
  int64_t nodes_ = 1;
  std::set<std::string> locations_;
};

}  // namespace harness
