// What joins the nodes of a row, and the count of what crossed it. One link is one file in this folder.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/registry/registry.h"

namespace bench {

struct LinkBytes {
  int64_t sent = 0, received = 0;  // by this node since its start, headers included
};

struct LinkOptions {
  std::string
      interface;  // network interface of this node on the link; empty: the one that leads to the master
  std::string master_addr;  // where rank 0 listens
  bool emulated = false;    // two network namespaces on one machine, joined by a veth pair
};

class Link {
 public:
  virtual ~Link() = default;
  // The network interface that carries the collectives.
  virtual std::string interface() const = 0;
  // Nothing when the row has one node.
  virtual std::optional<LinkBytes> bytes() const = 0;
};

// The link that a row asks for isn't there: the row is INVALID.
struct WrongLink : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using LinkRegistry = Registry<std::function<std::unique_ptr<Link>(const LinkOptions&)>>;

}  // namespace bench
