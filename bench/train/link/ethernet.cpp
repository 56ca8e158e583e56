// ethernet: nodes connected by an IP network. On one machine: two network namespaces and a veth pair with the
// rate link_rate_mbit.
#include "bench/train/link/interface.h"

namespace bench {

static const bool registered_link_ethernet = LinkRegistry::instance().add(
    {"link", "ethernet", "several nodes over IP; on one machine a rate-shaped veth pair"},
    [](const LinkOptions& options) {
      const std::string interface = interface_of_link(options);
      return Link{interface, [interface] { return bytes_of_interface(interface); }};
    });

}  // namespace bench
