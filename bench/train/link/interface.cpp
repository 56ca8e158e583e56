// Asks the kernel for the route to a host, and reads byte counters from /proc/net/dev and /sys.
#include "bench/train/link/interface.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/number.h"

namespace bench {

namespace fs = std::filesystem;

std::string interface_towards(const std::string& host) {
  const auto fail = [&](const char* why) {
    throw WrongLink(
        fmt::format("found no network interface towards {} ({}); name one with --interface", host, why));
  };
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  if (const int error = ::getaddrinfo(host.c_str(), "9", &hints, &found)) fail(::gai_strerror(error));
  // Connecting a datagram socket sends nothing, but makes the kernel choose the route and the local address.
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in mine{};
  socklen_t size = sizeof mine;
  const bool routed = fd >= 0 && ::connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                      ::getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &size) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  ::freeaddrinfo(found);
  if (!routed) fail(std::strerror(error));

  ifaddrs* all = nullptr;
  std::string name;
  if (::getifaddrs(&all) == 0) {
    for (const ifaddrs* one = all; one; one = one->ifa_next)
      if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
          reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr == mine.sin_addr.s_addr)
        name = one->ifa_name;
    ::freeifaddrs(all);
  }
  if (name.empty()) fail("no interface has the local address");
  return name;
}

std::string interface_of_link(const LinkOptions& options) {
  if (!options.interface.empty()) return options.interface;
  const std::string found = interface_towards(options.master_addr);
  if (found == "lo" && !options.emulated)
    throw WrongLink(
        fmt::format("rank 0's address {} leads to the loopback interface here, not to other nodes; "
                    "name the link's interface with --interface",
                    options.master_addr));
  return found;
}

LinkBytes bytes_of_interface(const std::string& name) {
  std::ifstream counters("/proc/net/dev");  // for this process's network namespace, unlike /sys
  return bytes_of_interface(name, counters);
}

LinkBytes bytes_of_interface(const std::string& name, std::istream& proc_net_dev) {
  for (std::string line; std::getline(proc_net_dev, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(' ');
    if (line.substr(begin, colon - begin) != name) continue;
    // Eight columns for received data (bytes first), then eight for sent data.
    std::istringstream columns(line.substr(colon + 1));
    LinkBytes bytes;
    int64_t skipped = 0;
    columns >> bytes.received;
    for (int column = 1; column < 8; ++column) columns >> skipped;
    if (columns >> bytes.sent) return bytes;
  }
  throw WrongLink(
      fmt::format("/proc/net/dev has no network interface '{}'; name one with --interface", name));
}

static int64_t words(const fs::path& counter) {
  return base::number_of<int64_t>(base::first_line(counter)).value_or(0);
}

LinkBytes bytes_of_adapters(const fs::path& root) {
  LinkBytes bytes;
  int active = 0;
  std::error_code error;
  for (const auto& adapter : fs::directory_iterator(root, error))
    for (const auto& port : fs::directory_iterator(adapter.path() / "ports", error)) {
      if (base::first_line(port.path() / "link_layer") != "InfiniBand") continue;
      if (base::first_line(port.path() / "state").find("ACTIVE") == std::string::npos) continue;
      ++active;
      bytes.sent += 4 * words(port.path() / "counters" / "port_xmit_data");
      bytes.received += 4 * words(port.path() / "counters" / "port_rcv_data");
    }
  if (active == 0)
    throw WrongLink("link infiniband: this node has no active InfiniBand port (" + root.string() +
                    "); run the row with --set link=ethernet, or check the adapter with ibstat");
  return bytes;
}

}  // namespace bench
