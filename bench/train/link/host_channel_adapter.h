// InfiniBand ports of this node, as the kernel's RDMA drivers show them under /sys/class/infiniband.
#pragma once
#include <filesystem>

#include "bench/train/link/link.h"

namespace bench {

// Data sent and received over all active InfiniBand ports (RoCE ports are Ethernet and don't count). The
// drivers count words of four bytes. Throws WrongLink when no port is active.
LinkBytes bytes_of_adapters(const std::filesystem::path& root = "/sys/class/infiniband");

}  // namespace bench
