// Notes when each collective is posted and when it ends, on the host and, where possible, on the device.
#include "bench/train/backend/traced_backend.h"

namespace bench {

using WorkPointer = c10::intrusive_ptr<c10d::Work>;

static Traffic::Message message_of(const std::vector<at::Tensor>& tensors) {
  Traffic::Message message{0, int(tensors.at(0).scalar_type())};
  for (const at::Tensor& tensor : tensors) message.bytes += int64_t(tensor.nbytes());
  return message;
}

// A collective that is done when it is posted. As with NCCL's, callbacks and wait() follow the current
// stream.
static WorkPointer done_with(const std::vector<at::Tensor>& values) {
  std::vector<c10::Device> devices;
  if (!values.at(0).is_cpu()) devices.push_back(values[0].device());
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors(), devices);
  future->markCompleted(c10::IValue(values));
  return c10d::Work::create_from_future(future);
}

TracedBackend::TracedBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<Traffic> traffic,
                             bool on_device)
    : Backend(inner->getRank(), inner->getSize()),
      inner_(std::move(inner)),
      traffic_(std::move(traffic)),
      on_device_(on_device) {}

Traffic::Ticket TracedBackend::begin(Collective kind, const Traffic::Message& message) {
  return on_device_ ? traffic_->begin_on_device(kind, message) : traffic_->begin(kind, message);
}

WorkPointer TracedBackend::until_done(Traffic::Ticket ticket, WorkPointer work) {
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

WorkPointer TracedBackend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  if (muted_) return done_with(tensors);
  const Traffic::Ticket ticket = begin(Collective::all_reduce, message_of(tensors));
  return until_done(ticket, inner_->allreduce(tensors, posted(options)));
}

WorkPointer TracedBackend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  if (muted_) return done_with(tensors);
  const Traffic::Ticket ticket = begin(Collective::broadcast, message_of(tensors));
  return until_done(ticket, inner_->broadcast(tensors, posted(options)));
}

WorkPointer TracedBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                     const c10d::AllgatherOptions& options) {
  if (muted_) {
    for (at::Tensor& output : outputs.at(0)) output.copy_(inputs.at(0));
    return done_with(outputs[0]);
  }
  const Traffic::Ticket ticket = begin(Collective::all_gather, message_of(inputs));
  return until_done(ticket, inner_->allgather(outputs, inputs, posted(options)));
}

WorkPointer TracedBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                                  const c10d::GatherOptions& options) {
  return inner_->gather(outputs, inputs, posted(options));
}

WorkPointer TracedBackend::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  return inner_->reduce(tensors, posted(options));
}

WorkPointer TracedBackend::send(Tensors& tensors, int to, int tag) { return inner_->send(tensors, to, tag); }

WorkPointer TracedBackend::recv(Tensors& tensors, int from, int tag) {
  return inner_->recv(tensors, from, tag);
}

WorkPointer TracedBackend::barrier(const c10d::BarrierOptions& options) {
  return inner_->barrier(posted(options));
}

}  // namespace bench
