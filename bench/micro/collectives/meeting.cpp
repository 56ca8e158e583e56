#include "bench/micro/collectives/meeting.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>

#include <stdexcept>

#include "bench/train/backend/mpi_backend.h"

namespace bench {

static std::string address_of(const std::string& interface) {
  ifaddrs* all = nullptr;
  std::string address;
  if (::getifaddrs(&all) == 0) {
    for (const ifaddrs* one = all; one; one = one->ifa_next) {
      if (one->ifa_name != interface || !one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
      char text[INET_ADDRSTRLEN] = "";
      ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof text);
      address = text;
    }
    ::freeifaddrs(all);
  }
  if (address.empty())
    throw std::invalid_argument(fmt::format(
        "--interface {}: this node has no interface of that name with an IPv4 address", interface));
  return address;
}

Meeting::Meeting(GroupOptions& options) {
  RankInfo& rank = options.rank;
  struct {
    char address[INET_ADDRSTRLEN];
    int port;
  } place{};
  if (rank.rank == 0) {
    listener_.emplace(0, /*every_interface=*/true);
    address_of(options.interface).copy(place.address, sizeof place.address - 1);
    place.port = listener_->port();
  }
  check_mpi(MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  rank.master_addr = place.address;
  rank.master_port = place.port;
  rank.listen_fd = listener_ ? listener_->fd() : -1;
}

}  // namespace bench
