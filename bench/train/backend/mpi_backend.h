// c10d's collectives over MPI: what ProcessGroupMPI is in a LibTorch built with MPI, which the wheel is not.
#pragma once
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace bench {

// Throws std::runtime_error naming the call when an MPI function returns an error.
void check_mpi(int code, const char* call);

// Returns when the request has ended. MPI's own waiting spins, and with more ranks than cores a spinning rank
// holds the core that the one it waits for needs until the scheduler's next tick. So this one looks a few
// times and then sleeps between looks. A thread that waits here gets precise timers (PR_SET_TIMERSLACK) from
// then on.
void wait_for(MPI_Request& request, const char* call);

// Owns a duplicate of the communicator and a thread that runs one collective after another in the order in
// which they were posted, so that they overlap with computing; MPI by itself only moves on inside its calls.
// With asyncOp = false the caller's own thread runs it at once, if nothing else is posted or under way; so
// does a thread that waits for one which is next and which the communication thread has not begun. Every rank
// must post the same collectives in the same order. Tensors: contiguous, one for each rank and call, those of
// a GPU are carried through host memory; types float32, float64, int64, int32, uint8, bfloat16, float16 (the
// last two are summed as PyTorch sums them: in float32, each partial sum rounded). All-reduce and reduce: SUM
// only. MPI must have been initialised with MPI_THREAD_MULTIPLE. A failing call sets the Work's exception.
class MpiBackend : public c10d::Backend {
 public:
  explicit MpiBackend(MPI_Comm communicator);
  ~MpiBackend() override;  // waits for what was posted

  const std::string getBackendName() const override { return "mpi"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> reduce(std::vector<at::Tensor>& tensors,
                                        const c10d::ReduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                           std::vector<at::Tensor>& inputs,
                                           const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> gather(std::vector<std::vector<at::Tensor>>& outputs,
                                        std::vector<at::Tensor>& inputs,
                                        const c10d::GatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int tag) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

 private:
  class PostedWork;
  struct Posted {
    std::function<void()> call;
    c10::intrusive_ptr<PostedWork> work;
  };
  c10::intrusive_ptr<c10d::Work> post(c10d::OpType kind, bool async, std::vector<at::Tensor> result,
                                      std::function<void()> call);
  void run();
  void run_first(std::unique_lock<std::mutex>& lock);
  void run_if_first(const PostedWork& work);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Posted> queue_;
  bool running_ = false;  // some thread is inside a collective
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace bench
