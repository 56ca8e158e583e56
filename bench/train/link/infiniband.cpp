// infiniband: nodes connected by RDMA hardware, verified with its counters, so that a fallback to sockets is
// detected. On one machine: an unshaped veth pair ("fast link: veth, no RDMA").
#include "bench/train/link/interface.h"

namespace bench {

static const bool registered_link_infiniband = LinkRegistry::instance().add(
    {"link", "infiniband", "several nodes over InfiniBand; on one machine an unshaped veth pair, no RDMA"},
    [](const LinkOptions& options) {
      if (!options.emulated) bytes_of_adapters();  // throws now if there is no such hardware
      const std::string interface = interface_of_link(options);
      if (options.emulated) bytes_of_interface(interface);
      return Link{interface, [interface, emulated = options.emulated] {
                    return emulated ? bytes_of_interface(interface) : bytes_of_adapters();
                  }};
    });

}  // namespace bench
