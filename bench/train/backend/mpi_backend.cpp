// Runs collectives in posting order in one communication thread, or in a caller that waits for the first.
#ifdef HAVE_MPI
#include "bench/train/backend/mpi_backend.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>

#include <stdexcept>

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
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

MpiBackend::~MpiBackend() {
  thread_ = {};  // ends it, after all that was posted
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

void MpiBackend::run(const std::stop_token& stop) {
  at::set_num_threads(1);  // LibTorch kernels sum 16-bit types here
  std::unique_lock lock(mutex_);
  while (posted_.wait(lock, stop, [&] { return !running_ && !queue_.empty(); })) run_first(lock);
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
  if (!queue_.empty()) posted_.notify_one();
}

struct Wire {
  MPI_Datatype type;
  MPI_Op sum;
};

// MPI has no 16-bit floating-point types: they are sent as 16-bit integers and summed by LibTorch's kernels.
template <at::ScalarType type>
static void add_sixteen_bit(void* in, void* in_out, int* count, MPI_Datatype*) {
  at::from_blob(in_out, {*count}, at::TensorOptions(type))
      .add_(at::from_blob(in, {*count}, at::TensorOptions(type)));
}

// The MPI_Op is created at first use and never freed.
template <at::ScalarType type>
static Wire sixteen_bit_wire() {
  static const MPI_Op sum = [] {
    MPI_Op made;
    check_mpi(MPI_Op_create(add_sixteen_bit<type>, /*commute=*/1, &made), "MPI_Op_create");
    return made;
  }();
  return {MPI_UINT16_T, sum};
}

static Wire wire_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return {MPI_FLOAT, MPI_SUM};
    case at::kDouble:
      return {MPI_DOUBLE, MPI_SUM};
    case at::kLong:
      return {MPI_INT64_T, MPI_SUM};
    case at::kInt:
      return {MPI_INT32_T, MPI_SUM};
    case at::kByte:
      return {MPI_UINT8_T, MPI_SUM};
    case at::kBFloat16:
      return sixteen_bit_wire<at::kBFloat16>();
    case at::kHalf:
      return sixteen_bit_wire<at::kHalf>();
    default:
      throw std::invalid_argument(
          fmt::format("backend mpi doesn't support tensors of type {}", toString(tensor.scalar_type())));
  }
}

// A tensor in host memory.
struct MpiBackend::Message {
  void* data;
  int count;
  MPI_Datatype type;
  MPI_Op sum;
};

// Posts a call of MPI on a tensor. start(message, request) begins it and returns MPI's code; end(staging)
// then has the results.
template <class Start, class End>
WorkPointer MpiBackend::post_on(const std::vector<at::Tensor>& tensors, c10d::OpType kind, bool async,
                                std::vector<at::Tensor> result, const char* call, Start start, End end) {
  return post(
      kind, async, std::move(result),
      [call, start, end, staging = Staging(only(tensors)), wire = wire_of(tensors[0])]() mutable {
        const at::Tensor host = staging.to_host();
        MPI_Request request;
        check_mpi(start(Message{host.data_ptr(), int(host.numel()), wire.type, wire.sum}, &request), call);
        wait_for(request, call);
        end(staging);
      });
}

static void copy_back(const Staging& staging) { staging.to_device(); }

// From one message with the parts of all ranks.
static void divide(const at::Tensor& all, const std::vector<at::Tensor>& parts) {
  for (size_t rank = 0; rank < parts.size(); ++rank)
    at::Tensor(parts[rank]).copy_(all[int64_t(rank)].view(parts[rank].sizes()));
}

WorkPointer MpiBackend::allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) {
  only_sums(options.reduceOp);
  const auto start = [this](const Message& sum, MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, sum.data, sum.count, sum.type, sum.sum, communicator_, request);
  };
  return post_on(tensors, c10d::OpType::ALLREDUCE, options.asyncOp, tensors, "MPI_Iallreduce", start,
                 copy_back);
}

WorkPointer MpiBackend::broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions& options) {
  const auto start = [this, root = int(options.rootRank)](const Message& sent, MPI_Request* request) {
    return MPI_Ibcast(sent.data, sent.count, sent.type, root, communicator_, request);
  };
  return post_on(tensors, c10d::OpType::BROADCAST, options.asyncOp, tensors, "MPI_Ibcast", start, copy_back);
}

WorkPointer MpiBackend::reduce(std::vector<at::Tensor>& tensors, const c10d::ReduceOptions& options) {
  only_sums(options.reduceOp);
  const auto start = [this, root = int(options.rootRank)](const Message& mine, MPI_Request* request) {
    const bool here = getRank() == root;
    return MPI_Ireduce(here ? MPI_IN_PLACE : mine.data, here ? mine.data : nullptr, mine.count, mine.type,
                       mine.sum, root, communicator_, request);
  };
  return post_on(tensors, c10d::OpType::REDUCE, options.asyncOp, tensors, "MPI_Ireduce", start, copy_back);
}

WorkPointer MpiBackend::allgather(std::vector<std::vector<at::Tensor>>& outputs,
                                  std::vector<at::Tensor>& inputs, const c10d::AllgatherOptions& options) {
  const at::Tensor all = at::empty({getSize(), only(inputs).numel()}, inputs[0].options().device(at::kCPU));
  const auto start = [this, all](const Message& mine, MPI_Request* request) {
    return MPI_Iallgather(mine.data, mine.count, mine.type, all.data_ptr(), mine.count, mine.type,
                          communicator_, request);
  };
  return post_on(inputs, c10d::OpType::ALLGATHER, options.asyncOp, outputs.at(0), "MPI_Iallgather", start,
                 [all, parts = outputs[0]](const Staging&) { divide(all, parts); });
}

WorkPointer MpiBackend::gather(std::vector<std::vector<at::Tensor>>& outputs, std::vector<at::Tensor>& inputs,
                               const c10d::GatherOptions& options) {
  const std::vector<at::Tensor> parts = outputs.empty() ? std::vector<at::Tensor>() : outputs[0];
  const int64_t ranks = getRank() == options.rootRank ? getSize() : 0;
  const at::Tensor all = at::empty({ranks, only(inputs).numel()}, inputs[0].options().device(at::kCPU));
  const auto start = [this, all, root = int(options.rootRank)](const Message& mine, MPI_Request* request) {
    return MPI_Igather(mine.data, mine.count, mine.type, all.data_ptr(), mine.count, mine.type, root,
                       communicator_, request);
  };
  return post_on(inputs, c10d::OpType::GATHER, options.asyncOp, parts, "MPI_Igather", start,
                 [all, parts](const Staging&) { divide(all, parts); });
}

WorkPointer MpiBackend::send(std::vector<at::Tensor>& tensors, int to, int tag) {
  const auto start = [this, to, tag](const Message& sent, MPI_Request* request) {
    return MPI_Isend(sent.data, sent.count, sent.type, to, tag, communicator_, request);
  };
  return post_on(tensors, c10d::OpType::SEND, /*async=*/true, tensors, "MPI_Isend", start,
                 [](const Staging&) {});
}

WorkPointer MpiBackend::recv(std::vector<at::Tensor>& tensors, int from, int tag) {
  const auto start = [this, from, tag](const Message& target, MPI_Request* request) {
    return MPI_Irecv(target.data, target.count, target.type, from, tag, communicator_, request);
  };
  return post_on(tensors, c10d::OpType::RECV, /*async=*/true, tensors, "MPI_Irecv", start, copy_back);
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
