// infiniband: nodes connected by RDMA hardware, verified with its counters, so that a fallback to sockets is
// detected. On one machine: an unshaped veth pair ("fast link: veth, no RDMA").
#include <filesystem>
#include <fstream>

#include "bench/train/link/interface.h"

namespace bench {

namespace fs = std::filesystem;

static std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

static int64_t words(const fs::path& counter) {
  std::ifstream stream(counter);
  int64_t value = 0;
  stream >> value;
  return value;
}

LinkBytes bytes_of_adapters(const fs::path& root) {
  LinkBytes bytes;
  int active = 0;
  std::error_code error;
  for (const auto& adapter : fs::directory_iterator(root, error))
    for (const auto& port : fs::directory_iterator(adapter.path() / "ports", error)) {
      if (first_line(port.path() / "link_layer") != "InfiniBand") continue;
      if (first_line(port.path() / "state").find("ACTIVE") == std::string::npos) continue;
      ++active;
      bytes.sent += 4 * words(port.path() / "counters" / "port_xmit_data");
      bytes.received += 4 * words(port.path() / "counters" / "port_rcv_data");
    }
  if (active == 0)
    throw WrongLink("link infiniband: this node has no active InfiniBand port (" + root.string() +
                    "); run the row with --set link=ethernet, or check the adapter with ibstat");
  return bytes;
}

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
