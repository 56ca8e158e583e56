// Network interfaces of this node, or of the network namespace that this process lives in.
#pragma once
#include <istream>
#include <string>

#include "bench/train/link/link.h"

namespace bench {

// The interface from which this node reaches that host, or that has the host's own address.
// Throws WrongLink when there is none.
std::string interface_towards(const std::string& host);

// The kernel's counters of an interface (/proc/net/dev). Throws WrongLink when there is no such interface.
LinkBytes bytes_of_interface(const std::string& name);
LinkBytes bytes_of_interface(const std::string& name, std::istream& proc_net_dev);

}  // namespace bench
