// Opens the TCPStore, and gathers each rank's text through it on rank 0.
#include "bench/train/backend/store_group.h"

#include <fmt/format.h>

namespace bench {

StoreGroup::StoreGroup(const GroupOptions& options) : rank_(options.rank) {
  if (options.store) {
    store_ = c10::intrusive_ptr<c10d::Store>::reclaim_copy(options.store);
    return;
  }
  c10d::TCPStoreOptions tcp;
  tcp.port = uint16_t(rank_.master_port);
  tcp.isServer = rank_.rank == 0;
  tcp.numWorkers = size_t(rank_.world_size);
  tcp.timeout = kTimeout;
  if (rank_.rank == 0 && rank_.listen_fd >= 0) tcp.masterListenFd = rank_.listen_fd;
  store_ = c10::make_intrusive<c10d::TCPStore>(rank_.master_addr, tcp);
}

std::vector<std::string> StoreGroup::gather(const std::string& text) {
  const std::string round = fmt::format("gather/{}/", rounds_++);
  store_->set(round + std::to_string(rank_.rank), std::vector<uint8_t>(text.begin(), text.end()));
  std::vector<std::string> texts;
  if (rank_.rank == 0)
    for (int rank = 0; rank < rank_.world_size; ++rank) {
      const auto bytes = store_->get(round + std::to_string(rank));
      texts.emplace_back(bytes.begin(), bytes.end());
    }
  barrier();  // no rank may exit before rank 0, which serves the store, has read everything
  return texts;
}

}  // namespace bench
