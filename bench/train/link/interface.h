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
// The interface of a link between nodes. Throws WrongLink if that towards rank 0 is the loopback, which leads
// to no other node: on rank 0's own node its host name may stand for 127.0.1.1.
std::string interface_of_link(const LinkOptions& options);

// The kernel's byte counters of an interface (/proc/net/dev). Throws WrongLink if there is no such interface.
LinkBytes bytes_of_interface(const std::string& name);
LinkBytes bytes_of_interface(const std::string& name, std::istream& proc_net_dev);

// Bytes sent and received by all active InfiniBand ports (not RoCE, which is Ethernet). The kernel counts in
// 4-byte words (port_xmit_data, port_rcv_data). Throws WrongLink if no port is active.
LinkBytes bytes_of_adapters(const std::filesystem::path& root = "/sys/class/infiniband");

}  // namespace bench
