// Network interfaces in this process's network namespace, and InfiniBand ports of this node.
#pragma once
#include <filesystem>
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

// Bytes sent and received by all active InfiniBand ports (not RoCE, which is Ethernet). The kernel counts in
// 4-byte words (port_xmit_data, port_rcv_data). Throws WrongLink if no port is active.
LinkBytes bytes_of_adapters(const std::filesystem::path& root = "/sys/class/infiniband");

}  // namespace bench
