// nccl: the suite's backend between GPUs; bare_nccl: NCCL's calls alone, in place and on a stream, as
// nccl-tests times them.
#include "bench/micro/collectives/carriers.h"

#ifdef HAVE_CUDA
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <stdexcept>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "bench/micro/collectives/c10d_carrier.h"
#include "bench/train/backend/process_group.h"

namespace bench {
namespace {

void wait_for_gpu() { c10::cuda::getCurrentCUDAStream().synchronize(); }

class Nccl : public Carrier {
 public:
  explicit Nccl(const GroupOptions& options)
      : group_(GroupRegistry::instance().find("nccl")(options)), carrier_(*group_->process_group()) {}
  void run(Operation operation, at::Tensor& tensor) override {
    carrier_.run(operation, tensor);
    wait_for_gpu();
    if (++calls_ % 64 == 0) group_->traffic()->next_batch();  // otherwise it would store all collectives
  }

 private:
  int64_t calls_ = 0;
  std::unique_ptr<Group> group_;
  C10dCarrier carrier_;
};

void check_nccl(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw std::runtime_error(fmt::format("{}: {}", call, ncclGetErrorString(result)));
}

class BareNccl : public Carrier {
 public:
  explicit BareNccl(const GroupOptions& options)
      : rank_(options.rank.rank), last_(options.rank.world_size - 1) {
    ncclUniqueId id{};
    if (rank_ == 0) {
      check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
      options.store->set("bare_nccl", std::vector<uint8_t>(id.internal, id.internal + sizeof id.internal));
    }
    const std::vector<uint8_t> told = options.store->get("bare_nccl");
    std::copy(told.begin(), told.end(), id.internal);
    check_nccl(ncclCommInitRank(&communicator_, last_ + 1, id, rank_), "ncclCommInitRank");
  }
  ~BareNccl() override { ncclCommDestroy(communicator_); }
  void run(Operation operation, at::Tensor& tensor) override {
    check_nccl(start(operation, tensor.mutable_data_ptr(), size_t(tensor.numel())), "NCCL");
    wait_for_gpu();
  }

 private:
  ncclResult_t start(Operation operation, void* data, size_t count) {
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    switch (operation) {
      case Operation::all_reduce:
        return ncclAllReduce(data, data, count, ncclFloat, ncclSum, communicator_, stream);
      case Operation::broadcast:
        return ncclBroadcast(data, data, count, ncclFloat, 0, communicator_, stream);
      case Operation::reduce:
        return ncclReduce(data, data, count, ncclFloat, ncclSum, 0, communicator_, stream);
      case Operation::point_to_point:
        if (rank_ == 0) return ncclSend(data, count, ncclFloat, last_, communicator_, stream);
        if (rank_ == last_) return ncclRecv(data, count, ncclFloat, 0, communicator_, stream);
    }
    return ncclSuccess;
  }

  const int rank_, last_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::vector<NamedCarrier> make_gpu_carriers(const GroupOptions& options, c10d::ProcessGroup& group) {
  const int gpus = c10::cuda::device_count();
  const bool enough = options.rank.local_world_size <= gpus;
  if (!enough && options.rank.local_rank == 0)
    fmt::print(stderr,
               "nccl is left out: {} ranks on a node with {} GPUs; each needs its own: lower --ranks\n",
               options.rank.local_world_size, gpus);
  // Nodes may differ: a rank that connected alone would wait for the others.
  std::vector<at::Tensor> all = {at::full({1}, int64_t(enough))};
  auto least = at_once<c10d::AllreduceOptions>();
  least.reduceOp = c10d::ReduceOp::MIN;
  group.allreduce(all, least)->wait();
  if (all[0].item<int64_t>() == 0) return {};
  c10::cuda::set_device(c10::DeviceIndex(options.rank.local_rank));
  const at::Device device(at::kCUDA, c10::DeviceIndex(options.rank.local_rank));
  std::vector<NamedCarrier> carriers;
  const auto store = c10::make_intrusive<c10d::PrefixStore>(
      "nccl", c10::intrusive_ptr<c10d::Store>::reclaim_copy(options.store));
  GroupOptions of_nccl = options;
  of_nccl.store = store.get();
  carriers.push_back({"nccl", std::make_unique<Nccl>(of_nccl), "bare_nccl", device});
  carriers.push_back({"bare_nccl", std::make_unique<BareNccl>(of_nccl), "", device});
  return carriers;
}

}  // namespace bench
#else
namespace bench {

// bench_micro has no GPU support; bench_micro_cuda has.
std::vector<NamedCarrier> make_gpu_carriers(const GroupOptions&, c10d::ProcessGroup&) { return {}; }

}  // namespace bench
#endif
