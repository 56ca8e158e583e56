// Notes when each collective is posted and when it ends, on the host and, where possible, on the device.
#include "bench/train/backend/process_group.h"

namespace bench {

using WorkPointer = c10::intrusive_ptr<c10d::Work>;

// A collective that is done when it is posted. As with NCCL's, callbacks and wait() follow the current
// stream.
static WorkPointer done_with(const std::vector<at::Tensor>& values) {
  std::vector<c10::Device> devices;
  if (!values.at(0).is_cpu()) devices.push_back(values[0].device());
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors(), devices);
  future->markCompleted(c10::IValue(values));
  return c10d::Work::create_from_future(future);
}

TracedProcessGroup::TracedProcessGroup(const c10::intrusive_ptr<c10d::Store>& store,
                                       c10::intrusive_ptr<c10d::Backend> backend,
                                       std::shared_ptr<Traffic> traffic, bool on_device)
    : ProcessGroup(store, backend->getRank(), backend->getSize()),
      backend_(std::move(backend)),
      traffic_(std::move(traffic)),
      on_device_(on_device) {
  setBoundDeviceId(backend_->getBoundDeviceId());  // setBackend() gives the backend this group's
  for (const at::DeviceType device : {at::kCPU, at::kCUDA, at::kPrivateUse1})
    setBackend(device, BackendType::CUSTOM, backend_);
  setDefaultBackend(BackendType::CUSTOM);
}

Traffic::Ticket TracedProcessGroup::begin(Collective kind, const Tensors& tensors) {
  Traffic::Message message{0, int(tensors.at(0).scalar_type())};
  for (const at::Tensor& tensor : tensors) message.bytes += int64_t(tensor.nbytes());
  return on_device_ ? traffic_->begin_on_device(kind, message) : traffic_->begin(kind, message);
}

WorkPointer TracedProcessGroup::until_done(Traffic::Ticket ticket, WorkPointer work) {
  if (on_device_)
    traffic_->end_on_device(ticket, [work]() -> std::optional<double> {
      return work->isCompleted() ? std::optional(double(work->getDuration())) : std::nullopt;
    });
  else if (work->isCompleted())  // completed synchronously: no future needed
    traffic_->end(ticket);
  else
    work->getFuture()->addCallback(
        [traffic = traffic_, ticket](c10::ivalue::Future&) { traffic->end(ticket); });
  return work;
}

WorkPointer TracedProcessGroup::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  if (muted_) return done_with(tensors);
  const Traffic::Ticket ticket = begin(Collective::all_reduce, tensors);
  return until_done(ticket, backend_->allreduce(tensors, posted(options)));
}

WorkPointer TracedProcessGroup::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  if (muted_) return done_with(tensors);
  const Traffic::Ticket ticket = begin(Collective::broadcast, tensors);
  return until_done(ticket, backend_->broadcast(tensors, posted(options)));
}

WorkPointer TracedProcessGroup::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) {
  if (muted_) {
    for (at::Tensor& output : outputs.at(0)) output.copy_(inputs.at(0));
    return done_with(outputs[0]);
  }
  const Traffic::Ticket ticket = begin(Collective::all_gather, inputs);
  return until_done(ticket, backend_->allgather(outputs, inputs, posted(options)));
}

}  // namespace bench
