// infiniband: nodes connected by RDMA hardware, verified with its counters, so that a fallback to sockets is
// detected. On one machine: an unshaped veth pair ("fast link: veth, no RDMA").
#include "bench/train/link/interface.h"

namespace bench {

namespace {

class InfiniBand : public Link {
 public:
  explicit InfiniBand(const LinkOptions& options)
      : emulated_(options.emulated),
        interface_(options.interface.empty() ? interface_towards(options.master_addr) : options.interface) {
    bytes();  // throws now if there is no such hardware
  }
  std::string interface() const override { return interface_; }
  std::optional<LinkBytes> bytes() const override {
    return emulated_ ? bytes_of_interface(interface_) : bytes_of_adapters();
  }

 private:
  bool emulated_;
  std::string interface_;
};

const bool registered_link_infiniband = LinkRegistry::instance().add(
    {"link", "infiniband", "several nodes over InfiniBand; on one machine an unshaped veth pair, no RDMA"},
    [](const LinkOptions& options) { return std::make_unique<InfiniBand>(options); });

}  // namespace
}  // namespace bench
