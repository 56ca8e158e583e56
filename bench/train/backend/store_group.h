// Base class of the groups whose ranks meet at a TCPStore on rank 0: gloo and nccl.
#pragma once
#include <chrono>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "bench/train/backend/traced_group.h"

namespace bench {

// Gloo's collectives over TCP on a network interface. Every rank must call it at the same point.
c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                            const std::string& interface, std::chrono::milliseconds timeout);

class StoreGroup : public TracedGroup {
 public:
  std::vector<std::string> gather(const std::string& text) override;

 protected:
  // Long, because ranks prepare their data before they meet, which can take minutes on a slow disk. The
  // harness's watchdog ends a row that hangs.
  static constexpr std::chrono::minutes kTimeout{30};

  explicit StoreGroup(const GroupOptions& options);
  c10::intrusive_ptr<c10d::Store> store() override { return store_; }
  c10::intrusive_ptr<c10d::Store> store_of(const std::string& name) const {
    return c10::make_intrusive<c10d::PrefixStore>(name, store_);
  }
  const RankInfo rank_;

 private:
  int rounds_ = 0;
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace bench
