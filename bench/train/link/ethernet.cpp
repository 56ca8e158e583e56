// ethernet: nodes connected by an IP network. On one machine: two network namespaces and a veth pair with the
// rate link_rate_mbit.
#include "bench/train/link/interface.h"

namespace bench {
namespace {

class Ethernet : public Link {
 public:
  explicit Ethernet(const LinkOptions& options)
      : interface_(options.interface.empty() ? interface_towards(options.master_addr) : options.interface) {}
  std::string interface() const override { return interface_; }
  std::optional<LinkBytes> bytes() const override { return bytes_of_interface(interface_); }

 private:
  std::string interface_;
};

const bool registered_link_ethernet = LinkRegistry::instance().add(
    {"link", "ethernet", "several nodes over IP; on one machine a rate-shaped veth pair"},
    [](const LinkOptions& options) { return std::make_unique<Ethernet>(options); });

}  // namespace
}  // namespace bench
