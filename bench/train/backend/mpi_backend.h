// A c10d::Backend over MPI, like c10d's ProcessGroupMPI, which the LibTorch wheel doesn't include.
#pragma once
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace bench {

// Throws std::runtime_error that names `call` if `code` is not MPI_SUCCESS.
void check_mpi(int code, const char* call);

// Waits for the request. MPI_Wait spins, and with more ranks than cores a spinning rank occupies the core
// that another rank needs. So this function polls with MPI_Test a few times and then sleeps 20 us between
// polls. Sets the calling thread's timer slack (base::sleep_precisely()). Throws as check_mpi().
void wait_for(MPI_Request& request, const char* call);

// Owns a duplicate of the communicator and a communication thread that runs the collectives in the order in
// which they were posted, so that they overlap with compute (MPI makes progress only inside its calls). If
// nothing else is queued or running, a call with asyncOp = false runs in the caller's thread; wait() also
// runs the next collective in the waiting thread if the communication thread has not started it. Every rank
// must post the same collectives in the same order. Tensors: one per call, contiguous; GPU tensors are staged
// through host memory. Types: float32, float64, int64, int32, uint8, bfloat16, float16 (the last two are
// summed as in PyTorch: in float32, each partial sum rounded). Reductions: SUM only. Throws
// std::invalid_argument for anything else. MPI must be initialised with MPI_THREAD_MULTIPLE. A failing MPI
// call sets the Work's exception.
class MpiBackend : public c10d::Backend {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;
  explicit MpiBackend(MPI_Comm communicator);
  ~MpiBackend() override;  // waits for all posted collectives

  const std::string getBackendName() const override { return "mpi"; }
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  Work broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  Work reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::AllgatherOptions& options) override;
  Work gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  Work send(Tensors& tensors, int to, int tag) override;
  Work recv(Tensors& tensors, int from, int tag) override;
  Work barrier(const c10d::BarrierOptions& options) override;

 private:
  class PostedWork;
  struct Posted {
    std::function<void()> call;
    c10::intrusive_ptr<PostedWork> work;
  };
  Work post(c10d::OpType kind, bool async, Tensors result, std::function<void()> call);
  struct Message;
  template <class Start, class End>
  Work post_on(const Tensors& tensors, c10d::OpType kind, bool async, Tensors result, const char* call,
               Start start, End end);
  void run(const std::stop_token& stop);
  void run_first(std::unique_lock<std::mutex>& lock);
  void run_if_first(const PostedWork& work);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::condition_variable_any posted_;
  std::deque<Posted> queue_;
  bool running_ = false;  // a thread is running a collective
  std::jthread thread_;
};

}  // namespace bench
