#include "bench/micro/collectives/carriers.h"

#include <stdexcept>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/micro/collectives/c10d_carrier.h"
#include "bench/micro/collectives/meeting.h"

namespace bench {
namespace {

// Uses a backend of the suite in the same way as the strategies.
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

}  // namespace

std::vector<NamedCarrier> make_carriers(Group& mpi, GroupOptions options) {
  if (options.interface.empty()) {
    if (options.rank.local_world_size < options.rank.world_size)
      throw std::invalid_argument(
          "the ranks are on several nodes: name the network interface between them with --interface (for "
          "Gloo)");
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
  for (NamedCarrier& carrier : make_gpu_carriers(options)) carriers.push_back(std::move(carrier));
  return carriers;
}

}  // namespace bench
