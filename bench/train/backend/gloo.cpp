// gloo: PyTorch's collectives over TCP, used by its DDP on CPUs. GPU tensors are staged through host memory.
#define USE_C10D_GLOO
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "bench/train/backend/store_group.h"

namespace bench {

c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                                            const std::string& interface, std::chrono::milliseconds timeout) {
  // c10d records every collective in one flight recorder per process, which inserts into a map without its
  // lock (pytorch/pytorch PR 179449). Groups of one process that are used by several threads, as those of
  // emulated devices are, then crash it now and then. Size 0 turns the recorder off; the first group's
  // constructor reads it.
  [[maybe_unused]] static const int once = ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1);
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, ranks, options);
}

namespace {

class GlooGroup : public StoreGroup {
 public:
  explicit GlooGroup(const GroupOptions& options) : StoreGroup(options), interface_(options.interface) {
    process_group();  // collective: every rank must create it at the same point
  }

 protected:
  c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) override {
    return make_gloo(store_of(name), rank_.rank, rank_.world_size, interface_, kTimeout);
  }

 private:
  const std::string interface_;
};

const bool registered_backend_gloo = GroupRegistry::instance().add(
    {"backend", "gloo", "Gloo over TCP, as PyTorch's DDP uses it on CPUs"},
    [](const GroupOptions& options) { return std::make_unique<GlooGroup>(options); });

}  // namespace
}  // namespace bench
