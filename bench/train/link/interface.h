// Network interfaces in this process's network namespace.
#pragma once
#include <istream>
#include <string>

#include "bench/train/link/link.h"

namespace bench {

// The interface through which this node reaches `host`, or that has the host's address. Throws WrongLink if
// there is none.
std::string interface_towards(const std::string& host);

// The kernel's byte counters of an interface (/proc/net/dev). Throws WrongLink if there is no such interface.
LinkBytes bytes_of_interface(const std::string& name);
LinkBytes bytes_of_interface(const std::string& name, std::istream& proc_net_dev);

}  // namespace bench
