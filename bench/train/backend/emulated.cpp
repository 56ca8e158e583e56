// emulated: collectives of emulated devices. Ranks exchange when they are ready through shared memory, and
// each puts the collective on its own communication timeline: it begins when the last rank of the node is
// ready, and takes latency and bytes / bandwidth from the device file, as NCCL's ring does. Between nodes the
// bytes that NCCL would send really cross the link, from that beginning on, and the collective ends no
// earlier than they arrive: NCCL passes chunks on while others are under way, so that the slower part
// decides. Nor earlier than the link's rate allows: the kernel lets an idle shaped link catch up, which would
// be a large part of so few bytes. Values travel where tensors have some.
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/StreamGuard.h>
#include <fmt/format.h>
#include <sched.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "bench/train/backend/node_meeting.h"
#include "bench/train/backend/store_group.h"
#include "bench/train/emulated/machine.h"

namespace bench {
namespace {

using Tensors = std::vector<at::Tensor>;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;

class EmulatedWork : public c10d::Work {
 public:
  EmulatedWork(int rank, c10d::OpType type, std::optional<at::Device> device)
      : Work(rank, type),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::ofTensors(),
            device ? std::vector<c10::Device>{*device} : std::vector<c10::Device>())) {}
  // On a device the calling thread's current stream waits, the host only until all ranks have posted.
  // Throws what the communication thread could not do.
  bool wait(std::chrono::milliseconds) override {
    future_->waitAndThrow();
    return true;
  }
  bool isCompleted() override { return future_->completed(); }
  bool isSuccess() const override { return future_->completed() && !future_->hasError(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  float getDuration() const override { return duration_ms_; }
  void complete(const Tensors& result, float duration_ms) {
    duration_ms_ = duration_ms;
    future_->markCompleted(c10::IValue(result));
  }
  void fail(std::exception_ptr error) { future_->setErrorIfNeeded(std::move(error)); }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<float> duration_ms_ = 0;
};

std::string values_of(const at::Tensor& tensor) {
  if (!tensor.is_cpu() && !emulated::has_values(tensor)) return {};
  const at::Tensor values = emulated::on_cpu(tensor).contiguous();
  return {static_cast<const char*>(values.data_ptr()), values.nbytes()};
}

// Sets the tensor's values, where it has some, or adds to them.
void set_values(const at::Tensor& tensor, const std::string& values, bool add = false) {
  if (values.size() != tensor.nbytes()) return;
  const at::Tensor given =
      at::from_blob(const_cast<char*>(values.data()), tensor.sizes(), tensor.options().device(at::kCPU));
  at::Tensor own = emulated::on_cpu(tensor);
  add ? own.add_(given) : own.copy_(given);
}

class EmulatedBackend : public c10d::Backend {
 public:
  EmulatedBackend(std::unique_ptr<NodeMeeting> meeting, const RankInfo& rank, int stream, double link_mbit)
      : Backend(rank.rank, rank.world_size),
        nodes_(rank.world_size / rank.local_world_size),
        meeting_(std::move(meeting)),
        stream_(stream),
        link_bytes_per_ns_(link_mbit * 1e6 / 8 * 1e-9),
        thread_([this](const std::stop_token& stop) { run(stop); }) {
    emulated::machine().several_ranks = rank.world_size > 1;
  }
  const std::string getBackendName() const override { return "emulated"; }

  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    if (options.reduceOp != c10d::ReduceOp::SUM) throw std::invalid_argument("emulated collectives add");
    const at::Tensor sum = tensors.at(0);
    // NCCL's ring: 2 (n - 1) / n of the bytes over each link.
    return post("all_reduce", c10d::OpType::ALLREDUCE, sum, 2.0 * (getSize() - 1) / getSize(), tensors,
                [this, sum](const std::vector<std::string>& all) {
                  for (size_t other = 0; other < all.size(); ++other) set_values(sum, all[other], other > 0);
                });
  }
  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    const at::Tensor tensor = tensors.at(0);
    const int root = int(options.rootRank), ranks_per_node = getSize() / nodes_;
    return post(
        "broadcast", c10d::OpType::BROADCAST, tensor, 1, tensors,
        [tensor, root](const std::vector<std::string>& all) { set_values(tensor, all[size_t(root)]); },
        Crossing::Path::chain, root / ranks_per_node);
  }
  WorkPointer allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                        const c10d::AllgatherOptions&) override {
    return post_gathering("all_gather", c10d::OpType::ALLGATHER, inputs.at(0), outputs.at(0));
  }
  WorkPointer gather(std::vector<Tensors>& outputs, Tensors& inputs,
                     const c10d::GatherOptions& options) override {
    return post_gathering("gather", c10d::OpType::GATHER, inputs.at(0),
                          getRank() == options.rootRank ? outputs.at(0) : Tensors());
  }
  WorkPointer barrier(const c10d::BarrierOptions&) override {
    return post("barrier", c10d::OpType::BARRIER, at::empty({0}), 0, {}, [](const auto&) {});
  }

 private:
  using Apply = std::function<void(const std::vector<std::string>& values_by_rank)>;
  struct Posted {
    uint64_t number;
    std::string what;
    c10::intrusive_ptr<EmulatedWork> work;
    std::optional<at::Device> device;
    Nanoseconds ready, duration;
    Crossing crossing;
    int64_t reduced;  // elements of gradients
    Tensors result;
    Apply apply;
  };

  // traffic: bytes over each link, as a multiple of the tensor's. path, root_node: between nodes.
  WorkPointer post(const char* kind, c10d::OpType type, const at::Tensor& tensor, double traffic,
                   Tensors result, Apply apply, Crossing::Path path = Crossing::Path::ring,
                   int root_node = 0) {
    std::optional<at::Device> device;
    Nanoseconds ready = 0, duration = 0;
    Crossing crossing;
    const bool sums = type == c10d::OpType::ALLREDUCE && tensor.is_floating_point() && !tensor.is_cpu();
    const int64_t reduced = sums ? tensor.numel() : 0;
    const std::string values = values_of(tensor);
    if (!tensor.is_cpu()) {
      emulated::Machine& machine = emulated::machine();
      device = tensor.device();
      const c10::Stream stream = c10::impl::VirtualGuardImpl(device->type()).getStream(*device);
      machine.timelines.spend_host(device->index(), machine.durations.launch());
      ready = machine.timelines.now(device->index(), int(stream.id()));
      duration = machine.durations.collective(double(tensor.nbytes()) * traffic, getSize());
      // NCCL's tree sends what a ring of the nodes would.
      if (machine.tree && type == c10d::OpType::ALLREDUCE) traffic = 2.0 * (nodes_ - 1) / nodes_;
      if (values.empty())
        crossing = {path, std::llround(double(tensor.nbytes()) * traffic / double(machine.wire_divisor)),
                    root_node};
      if (link_bytes_per_ns_ > 0)
        duration = std::max(duration, Nanoseconds(double(crossing.bytes) / link_bytes_per_ns_));
    }
    auto work = c10::make_intrusive<EmulatedWork>(getRank(), type, device);
    const std::lock_guard in_order(posting_);
    const std::string what = fmt::format("{} of {} bytes", kind, tensor.nbytes());
    const uint64_t number = meeting_->post(what, ready, values);
    const std::lock_guard lock(mutex_);
    posted_.push_back({number, what, work, device, ready, duration, crossing, reduced, std::move(result),
                       std::move(apply)});
    changed_.notify_all();
    return work;
  }

  // gathered: by rank, or empty where this rank gets nothing.
  WorkPointer post_gathering(const char* kind, c10d::OpType type, const at::Tensor& mine,
                             const Tensors& gathered) {
    return post(kind, type, mine, getSize() - 1.0, gathered, [gathered](const std::vector<std::string>& all) {
      for (size_t other = 0; other < gathered.size(); ++other) set_values(gathered[other], all[other]);
    });
  }

  // Completes collectives in their order, each when all ranks have posted it.
  void run(const std::stop_token& stop) {
    for (;;) {
      Posted next;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !posted_.empty(); })) return;
        next = std::move(posted_.front());
        posted_.pop_front();
      }
      try {
        const NodeMeeting::Result met =
            meeting_->meet(next.number, next.what, next.device ? end_ : 0, next.crossing);
        next.apply(met.payloads);
        if (!next.device) {
          next.work->complete(next.result, 0);
          continue;
        }
        const Nanoseconds started = std::max(next.ready, end_);  // NCCL's kernel then waits for the others
        end_ = std::max(met.begin + next.duration, met.arrived);
        emulated::machine().timelines.uncertain_arrival(met.uncertain);
        if (next.reduced > 0) emulated::machine().order.reduced(next.reduced, end_);
        emulated::machine().timelines.hold_up(next.device->index(), stream_, end_);
        const c10::StreamGuard guard(c10::Stream(c10::Stream::UNSAFE, *next.device, stream_));
        next.work->complete(next.result, float(double(end_ - started) * 1e-6));
      } catch (...) {
        next.work->fail(std::current_exception());
      }
    }
  }

  const int nodes_;
  const std::unique_ptr<NodeMeeting> meeting_;
  const int stream_;
  const double link_bytes_per_ns_;  // 0: no limit
  Nanoseconds end_ = 0;             // of the last collective; one after another, as on NCCL's stream
  std::mutex posting_;  // held while a post waits for a free slot of the ledger; run() doesn't need it
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Posted> posted_;
  std::jthread thread_;  // last member: ends first, after all that was posted
};

// While it lives, threads that the calling one creates run as soon as something arrives for them, where the
// kernel permits it (root, or the right to SCHED_FIFO): on a machine with fewer cores than ranks, bytes
// between nodes would otherwise seem to arrive only when the thread gets a core.
struct PromptThreads {
  PromptThreads() { set(SCHED_FIFO, 1); }
  ~PromptThreads() { set(SCHED_OTHER, 0); }

  static void set(int policy, int priority) {
    const sched_param parameter{priority};
    ::sched_setscheduler(0, policy, &parameter);
  }
};

class EmulatedGroup : public StoreGroup {
 public:
  explicit EmulatedGroup(const GroupOptions& options)
      : StoreGroup(options),
        folder_(options.logs),
        interface_(options.interface),
        link_mbit_(options.link_mbit) {
    const PromptThreads prompt;
    process_group();
  }
  ~EmulatedGroup() override { end_process_groups(); }

 protected:
  c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) override {
    return c10::make_intrusive<EmulatedBackend>(
        std::make_unique<NodeMeeting>(rank_, folder_, name, store_of(name), interface_), rank_,
        next_stream_++, link_mbit_);
  }
  bool carried_by_device() const override { return true; }

 private:
  const std::filesystem::path folder_;
  const std::string interface_;
  const double link_mbit_;
  int next_stream_ = Timelines::kStreams - 2;  // two of a device's streams are never handed out
};

const bool registered_backend_emulated = GroupRegistry::instance().add(
    {"backend", "emulated", "collectives of emulated devices on their timelines", {.device = "emulated"}},
    [](const GroupOptions& options) { return std::make_unique<EmulatedGroup>(options); });

}  // namespace
}  // namespace bench
