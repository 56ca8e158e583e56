#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "bench/micro/collectives/c10d_carrier.h"

namespace bench {
namespace {

class BareGloo : public Carrier {
 public:
  explicit BareGloo(const GroupOptions& options) {
    c10d::TCPStoreOptions store_options;
    store_options.port = uint16_t(options.rank.master_port);
    store_options.isServer = options.rank.rank == 0;
    store_options.numWorkers = size_t(options.rank.world_size);
    if (options.rank.rank == 0) store_options.masterListenFd = options.rank.listen_fd;
    const auto store = c10::make_intrusive<c10d::TCPStore>(options.rank.master_addr, store_options);
    const auto gloo_options = c10d::ProcessGroupGloo::Options::create();
    gloo_options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(options.interface));
    gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, options.rank.rank, options.rank.world_size,
                                                        gloo_options);
    carrier_ = std::make_unique<C10dCarrier<c10d::Backend>>(*gloo_);
  }
  void run(Operation operation, at::Tensor& tensor) override { carrier_->run(operation, tensor); }

 private:
  c10::intrusive_ptr<c10d::Backend> gloo_;
  std::unique_ptr<Carrier> carrier_;
};

}  // namespace

std::unique_ptr<Carrier> make_bare_gloo(const GroupOptions& options) {
  return std::make_unique<BareGloo>(options);
}

}  // namespace bench
