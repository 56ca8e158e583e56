// nccl: NVIDIA's collectives between GPUs, the engine of PyTorch's DDP on them. Each rank has a GPU of its
// own, the one that its device has made current.
#define USE_C10D_NCCL
#include <c10/cuda/CUDAFunctions.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "bench/backend/store_group.h"

namespace bench {
namespace {

class NcclGroup : public StoreGroup {
 public:
  explicit NcclGroup(const GroupOptions& options) : StoreGroup(options.rank) {
    process_group();  // made by every rank here, whatever comes first later
  }
  // Left alone, the destructor of LibTorch's group aborts what is still on its way.
  ~NcclGroup() override {
    c10::cuda::device_synchronize();
    for (auto& backend : backends_) backend->shutdown();
    end_process_groups();
  }

 protected:
  c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) override {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kTimeout;
    auto backend =
        c10::make_intrusive<c10d::ProcessGroupNCCL>(store_of(name), rank_.rank, rank_.world_size, options);
    const at::Device device(at::kCUDA, c10::cuda::current_device());
    backend->setBoundDeviceId(device);
    backend->eagerConnectSingleDevice(device);  // or the first collective would pay for it
    backends_.push_back(backend);
    return backend;
  }

 private:
  std::vector<c10::intrusive_ptr<c10d::ProcessGroupNCCL>> backends_;
};

const bool registered = GroupRegistry::instance().add(
    {"backend", "nccl", "NCCL between GPUs, as PyTorch's DDP uses it"},
    [](const GroupOptions& options) { return std::make_unique<NcclGroup>(options); });

}  // namespace
}  // namespace bench
