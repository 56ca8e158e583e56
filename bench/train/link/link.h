// The network link between the nodes of a row, and its byte counters. Each link is one file in this folder.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/registry/registry.h"

namespace bench {

struct LinkBytes {
  int64_t sent = 0, received = 0;  // bytes of this node since boot, including headers
};

struct LinkOptions {
  std::string interface;    // network interface of this node; empty: the one towards master_addr
  std::string master_addr;  // host name or address of rank 0
  bool emulated = false;    // two network namespaces on one machine with a veth pair
};

struct Link {
  std::string interface;  // the network interface that carries the collectives
  // Counters of this node; empty if the row has one node. Throws WrongLink if they can't be read.
  std::function<std::optional<LinkBytes>()> bytes;
};

// The link of the row isn't available: the row is INVALID. Also thrown by factories.
struct WrongLink : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using LinkRegistry = Registry<std::function<Link(const LinkOptions&)>>;

}  // namespace bench
