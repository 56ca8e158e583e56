#include "bench/micro/collectives/carriers.h"

#include <stdexcept>

#include "bench/micro/collectives/c10d_carrier.h"
#include "bench/micro/collectives/meeting.h"

namespace bench {

std::vector<NamedCarrier> make_carriers(Group& mpi, GroupOptions options) {
  if (options.interface.empty()) {
    if (options.rank.local_world_size < options.rank.world_size)
      throw std::invalid_argument(
          "the ranks are on several nodes: name the network interface between them with --interface (for "
          "Gloo)");
    options.interface = "lo";
  }
  std::vector<NamedCarrier> carriers;
  carriers.push_back({"mpi", std::make_unique<C10dCarrier>(*mpi.process_group()), "bare_mpi"});
  carriers.push_back({"posted_mpi", std::make_unique<C10dCarrier>(*mpi.process_group(), true), "bare_mpi"});
  carriers.push_back({"bare_mpi", make_bare_mpi(), ""});
  {
    const Meeting meeting(options);
    carriers.push_back(
        {"gloo", std::make_unique<C10dCarrier>(GroupRegistry::instance().find("gloo")(options)), ""});
  }
  for (NamedCarrier& carrier : make_gpu_carriers(options)) carriers.push_back(std::move(carrier));
  return carriers;
}

}  // namespace bench
