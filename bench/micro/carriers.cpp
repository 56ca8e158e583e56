#include "bench/micro/carriers.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>

#include <optional>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/backend/mpi_backend.h"
#include "bench/micro/c10d_carrier.h"
#include "harness/listener.h"

namespace bench {
namespace {

// Over a backend of the suite, as strategies reach it.
class Ours : public Carrier {
 public:
  Ours(Group& group, bool posted) : carrier_(*group.process_group(), posted) {}
  explicit Ours(std::unique_ptr<Group> group)
      : owned_(std::move(group)), carrier_(*owned_->process_group()) {}
  void run(Operation operation, at::Tensor& tensor) override { carrier_.run(operation, tensor); }

 private:
  std::unique_ptr<Group> owned_;
  C10dCarrier<c10d::ProcessGroup> carrier_;
};

std::string address_of(const std::string& interface) {
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
    throw std::invalid_argument(
        fmt::format("--interface {}: this node has none of that name with an IPv4 address", interface));
  return address;
}

// Where Gloo's ranks meet: a port that rank 0 listens on already, so that nobody else can take it.
class Meeting {
 public:
  explicit Meeting(GroupOptions& options) {
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

 private:
  std::optional<harness::Listener> listener_;
};

}  // namespace

std::vector<NamedCarrier> make_carriers(Group& mpi, GroupOptions options) {
  if (options.interface.empty()) {
    if (options.rank.local_world_size < options.rank.world_size)
      throw std::invalid_argument(
          "the ranks are on several nodes: name with --interface what joins them, for Gloo");
    options.interface = "lo";
  }
  std::vector<NamedCarrier> carriers;
  carriers.push_back({"mpi", std::make_unique<Ours>(mpi, false), "bare_mpi"});
  carriers.push_back({"posted_mpi", std::make_unique<Ours>(mpi, true), "bare_mpi"});
  carriers.push_back({"bare_mpi", make_bare_mpi(false), ""});
  carriers.push_back({"blocking_mpi", make_bare_mpi(true), ""});
  {
    const Meeting meeting(options);
    carriers.push_back(
        {"gloo", std::make_unique<Ours>(GroupRegistry::instance().find("gloo")(options)), "bare_gloo"});
  }
  {
    const Meeting meeting(options);
    carriers.push_back({"bare_gloo", make_bare_gloo(options), ""});
  }
  return carriers;
}

}  // namespace bench
