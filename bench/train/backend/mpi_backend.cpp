// Runs collectives in posting order in one communication thread, or in a caller that waits for the first.
#ifdef HAVE_MPI
#include "bench/train/backend/mpi_backend.h"

#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>

#include <stdexcept>

#include "bench/train/backend/mpi_wire.h"
#include "bench/train/backend/staging.h"
#include "harness/base/timer_slack.h"

namespace bench {

constexpr int kLooks = 20;
constexpr std::chrono::microseconds kNap{20};

using WorkPointer = c10::intrusive_ptr<c10d::Work>;

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(fmt::format("{}: {}", call, std::string(text, size_t(length))));
}

void wait_for(MPI_Request& request, const char* call) {
  for (int look = 0;; ++look) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done) return;
    if (look < kLooks) continue;
    base::sleep_precisely();
    std::this_thread::sleep_for(kNap);
  }
}

static const at::Tensor& only(const std::vector<at::Tensor>& tensors) {
  if (tensors.size() != 1)
    throw std::invalid_argument(fmt::format("backend mpi: expected one tensor, found {}", tensors.size()));
  const at::Tensor& tensor = tensors[0];
  if (tensor.is_sparse() || !tensor.is_contiguous())
    throw std::invalid_argument("backend mpi: expected a contiguous dense tensor");
  if (tensor.numel() > std::numeric_limits<int>::max())
    throw std::invalid_argument("backend mpi: expected at most 2^31 - 1 elements");
  return tensor;
}

static void only_sums(const c10d::ReduceOp& operation) {
  if (operation != c10d::ReduceOp::SUM)
    throw std::invalid_argument("backend mpi: the only supported reduction is SUM");
}

class MpiBackend::PostedWork : public c10d::Work {
 public:
  PostedWork(MpiBackend& backend, c10d::OpType kind, std::vector<at::Tensor> result)
      : Work(backend.getRank(), kind), backend_(backend), result_(std::move(result)) {}
  // Created on demand, because it costs as much as the rest of a small collective.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    const std::lock_guard lock(mutex_);
    if (!future_) {
      std::vector<c10::Device> devices;
      if (const auto other_than_cpu = device()) devices.push_back(*other_than_cpu);
      future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors(), devices);
      if (completed_) settle(*future_);
    }
    return future_;
  }
  std::vector<at::Tensor> result() override { return result_; }
  std::optional<c10::Device> device() const {  // other than the CPU
    if (result_.empty() || result_[0].is_cpu()) return std::nullopt;
    return result_[0].device();
  }
  bool wait(std::chrono::milliseconds timeout) override {
    if (timeout == kNoTimeout && !isCompleted())
      backend_.run_if_first(*this);  // backend_ exists until all work is completed
    return Work::wait(timeout);
  }
  void end(const std::exception_ptr& error) {
    finish(error);
    std::unique_lock lock(mutex_);
    const auto future = future_;  // if it is created later, getFuture() settles it
    lock.unlock();
    if (future && !future->completed()) settle(*future);
  }

 private:
  void settle(c10::ivalue::Future& future) {
    if (exception_)
      future.setError(exception_);
    else
      future.markCompleted(c10::IValue(result_));
  }
  MpiBackend& backend_;
  std::vector<at::Tensor> result_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

static int rank_in(MPI_Comm communicator) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

static int size_of(MPI_Comm communicator) {
  int size = 0;
  check_mpi(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  return size;
}

MpiBackend::MpiBackend(MPI_Comm communicator) : Backend(rank_in(communicator), size_of(communicator)) {
  check_mpi(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  thread_ = std::thread([this] { run(); });
}

MpiBackend::~MpiBackend() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  posted_.notify_one();
  thread_.join();
  MPI_Comm_free(&communicator_);
}

// A caller that waits immediately runs the collective itself: switching to the communication thread and back
// costs more than a small collective.
WorkPointer MpiBackend::post(c10d::OpType kind, bool async, std::vector<at::Tensor> result,
                             std::function<void()> call) {
  auto work = c10::make_intrusive<PostedWork>(*this, kind, std::move(result));
  std::unique_lock lock(mutex_);
  const bool first = queue_.empty() && !running_;
  queue_.push_back({std::move(call), work});
  if (!async && first) run_first(lock);
  if (!queue_.empty()) posted_.notify_one();
  return work;
}

void MpiBackend::run() {
  at::set_num_threads(1);  // LibTorch kernels sum 16-bit types here
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [&] { return !running_ && (stop_ || !queue_.empty()); });
    if (queue_.empty()) return;
    run_first(lock);
  }
}

void MpiBackend::run_first(std::unique_lock<std::mutex>& lock) {
  c10::OptionalDeviceGuard on;  // otherwise memory released here would be freed on GPU 0
  Posted posted = std::move(queue_.front());
  if (const auto device = posted.work->device()) on.reset_device(*device);
  queue_.pop_front();
  running_ = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    posted.call();
  } catch (...) {
    error = std::current_exception();
  }
  posted.work->end(error);
  lock.lock();
  running_ = false;
}

void MpiBackend::run_if_first(const PostedWork& work) {
  std::unique_lock lock(mutex_);
  if (running_ || queue_.empty() || queue_.front().work.get() != &work) return;
  run_first(lock);
  if (stop_ || !queue_.empty()) posted_.notify_one();
}

WorkPointer MpiBackend::allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) {
  only_sums(options.reduceOp);
  return post(c10d::OpType::ALLREDUCE, options.asyncOp, tensors,
              [this, staging = Staging(only(tensors)), wire = wire_of(tensors[0])]() mutable {
                const at::Tensor tensor = staging.to_host();
                MPI_Request request;
                check_mpi(MPI_Iallreduce(MPI_IN_PLACE, tensor.data_ptr(), int(tensor.numel()), wire.type,
                                         wire.sum, communicator_, &request),
                          "MPI_Iallreduce");
                wait_for(request, "MPI_Iallreduce");
                staging.to_device();
              });
}

WorkPointer MpiBackend::broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) {
  return post(c10d::OpType::BROADCAST, options.asyncOp, tensors,
              [this, staging = Staging(only(tensors)), wire = wire_of(tensors[0]),
               root = int(options.rootRank)]() mutable {
                const at::Tensor tensor = staging.to_host();
                MPI_Request request;
                check_mpi(MPI_Ibcast(tensor.data_ptr(), int(tensor.numel()), wire.type, root, communicator_,
                                     &request),
                          "MPI_Ibcast");
                wait_for(request, "MPI_Ibcast");
                staging.to_device();
              });
}

WorkPointer MpiBackend::reduce(std::vector<at::Tensor>& tensors, const c10d::ReduceOptions& options) {
  only_sums(options.reduceOp);
  return post(c10d::OpType::REDUCE, options.asyncOp, tensors,
              [this, staging = Staging(only(tensors)), wire = wire_of(tensors[0]),
               root = int(options.rootRank)]() mutable {
                const at::Tensor tensor = staging.to_host();
                const bool here = getRank() == root;
                MPI_Request request;
                check_mpi(
                    MPI_Ireduce(here ? MPI_IN_PLACE : tensor.data_ptr(), here ? tensor.data_ptr() : nullptr,
                                int(tensor.numel()), wire.type, wire.sum, root, communicator_, &request),
                    "MPI_Ireduce");
                wait_for(request, "MPI_Ireduce");
                staging.to_device();
              });
}

WorkPointer MpiBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                  std::vector<at::Tensor>& inputs, const c10d::AllgatherOptions& options) {
  return post(
      c10d::OpType::ALLGATHER, options.asyncOp, outputs.at(0),
      [this, staging = Staging(only(inputs)), wire = wire_of(inputs[0]), parts = outputs.at(0)]() mutable {
        const at::Tensor input = staging.to_host();
        const int count = int(input.numel());
        const at::Tensor all = input.new_empty({getSize(), input.numel()});
        MPI_Request request;
        check_mpi(MPI_Iallgather(input.data_ptr(), count, wire.type, all.data_ptr(), count, wire.type,
                                 communicator_, &request),
                  "MPI_Iallgather");
        wait_for(request, "MPI_Iallgather");
        for (size_t rank = 0; rank < parts.size(); ++rank)
          at::Tensor(parts[rank]).copy_(all[int64_t(rank)].view(parts[rank].sizes()));
      });
}

WorkPointer MpiBackend::gather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                               const c10d::GatherOptions& options) {
  const std::vector<at::Tensor> parts = outputs.empty() ? std::vector<at::Tensor>() : outputs[0];
  return post(c10d::OpType::GATHER, options.asyncOp, parts,
              [this, parts, staging = Staging(only(inputs)), wire = wire_of(inputs[0]),
               root = int(options.rootRank)]() mutable {
                const at::Tensor input = staging.to_host();
                const int count = int(input.numel());
                at::Tensor all;
                if (getRank() == root) all = input.new_empty({getSize(), input.numel()});
                MPI_Request request;
                check_mpi(
                    MPI_Igather(input.data_ptr(), count, wire.type, all.defined() ? all.data_ptr() : nullptr,
                                count, wire.type, root, communicator_, &request),
                    "MPI_Igather");
                wait_for(request, "MPI_Igather");
                for (size_t rank = 0; rank < parts.size(); ++rank)
                  at::Tensor(parts[rank]).copy_(all[int64_t(rank)].view(parts[rank].sizes()));
              });
}

WorkPointer MpiBackend::send(std::vector<at::Tensor>& tensors, int to, int tag) {
  return post(c10d::OpType::SEND, /*async=*/true, tensors,
              [this, to, tag, staging = Staging(only(tensors)), wire = wire_of(tensors[0])]() mutable {
                const at::Tensor tensor = staging.to_host();
                MPI_Request request;
                check_mpi(MPI_Isend(tensor.data_ptr(), int(tensor.numel()), wire.type, to, tag, communicator_,
                                    &request),
                          "MPI_Isend");
                wait_for(request, "MPI_Isend");
              });
}

WorkPointer MpiBackend::recv(std::vector<at::Tensor>& tensors, int from, int tag) {
  return post(c10d::OpType::RECV, /*async=*/true, tensors,
              [this, from, tag, staging = Staging(only(tensors)), wire = wire_of(tensors[0])]() mutable {
                const at::Tensor tensor = staging.to_host();
                MPI_Request request;
                check_mpi(MPI_Irecv(tensor.data_ptr(), int(tensor.numel()), wire.type, from, tag,
                                    communicator_, &request),
                          "MPI_Irecv");
                wait_for(request, "MPI_Irecv");
                staging.to_device();
              });
}

WorkPointer MpiBackend::barrier(const c10d::BarrierOptions& options) {
  return post(c10d::OpType::BARRIER, options.asyncOp, {}, [this] {
    MPI_Request request;
    check_mpi(MPI_Ibarrier(communicator_, &request), "MPI_Ibarrier");
    wait_for(request, "MPI_Ibarrier");
  });
}

}  // namespace bench
#endif
