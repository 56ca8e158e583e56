// Byte counters of this node's InfiniBand ports, from /sys/class/infiniband.
#pragma once
#include <filesystem>

#include "bench/train/link/link.h"

namespace bench {

// Bytes sent and received by all active InfiniBand ports (not RoCE, which is Ethernet). The kernel counts in
// 4-byte words (port_xmit_data, port_rcv_data). Throws WrongLink if no port is active.
LinkBytes bytes_of_adapters(const std::filesystem::path& root = "/sys/class/infiniband");

}  // namespace bench
