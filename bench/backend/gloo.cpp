// gloo: PyTorch's collectives over TCP, the engine of its DDP on CPUs. Rendezvous through a TCPStore on rank
// 0.
#define USE_C10D_GLOO
#include <fmt/format.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "bench/backend/traced_group.h"

namespace bench {
namespace {

// Ranks of a row prepare their data before they meet, which may take minutes on a slow disk; the harness's
// own watchdog is what ends a row that really hangs.
constexpr std::chrono::minutes kTimeout{30};

class GlooGroup : public TracedGroup {
 public:
  explicit GlooGroup(const GroupOptions& options) : rank_(options.rank) {
    c10d::TCPStoreOptions store_options;
    store_options.port = uint16_t(rank_.master_port);
    store_options.isServer = rank_.rank == 0;
    store_options.numWorkers = size_t(rank_.world_size);
    store_options.timeout = kTimeout;
    if (rank_.rank == 0 && rank_.listen_fd >= 0) store_options.masterListenFd = rank_.listen_fd;
    store_ = c10::make_intrusive<c10d::TCPStore>(rank_.master_addr, store_options);

    options_ = c10d::ProcessGroupGloo::Options::create(kTimeout);
    options_->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(options.interface));
    process_group();  // made by every rank here, whatever comes first later
  }

  std::vector<std::string> gather(const std::string& text) override {
    const std::string round = fmt::format("gather/{}/", rounds_++);
    store_->set(round + std::to_string(rank_.rank), std::vector<uint8_t>(text.begin(), text.end()));
    std::vector<std::string> texts;
    if (rank_.rank == 0)
      for (int rank = 0; rank < rank_.world_size; ++rank) {
        const auto bytes = store_->get(round + std::to_string(rank));
        texts.emplace_back(bytes.begin(), bytes.end());
      }
    barrier();  // rank 0 serves the store: nobody may leave before it has read everything
    return texts;
  }

 protected:
  c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) override {
    return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>(name, store_),
                                                       rank_.rank, rank_.world_size, options_);
  }
  c10::intrusive_ptr<c10d::Store> store() override { return store_; }

 private:
  RankInfo rank_;
  int rounds_ = 0;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo::Options> options_;
};

const bool registered = GroupRegistry::instance().add(
    {"backend", "gloo", "Gloo over TCP, as PyTorch's DDP uses it on CPUs"},
    [](const GroupOptions& options) { return std::make_unique<GlooGroup>(options); });

}  // namespace
}  // namespace bench
