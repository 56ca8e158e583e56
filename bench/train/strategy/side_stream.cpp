// Takes a stream from LibTorch's pool, and orders it with the current one by events.
#include "bench/train/strategy/side_stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace bench {

using c10::impl::VirtualGuardImpl;

SideStream::SideStream(const c10::Device& device) {
  if (device.is_cpu()) return;
  stream_ = VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  theirs_.emplace(device.type());
  ours_.emplace(device.type());
}

void SideStream::wait_for_current() {
  if (!stream_) return;
  theirs_->record(VirtualGuardImpl(stream_->device_type()).getStream(stream_->device()));
  theirs_->block(*stream_);
}

void SideStream::hold_up_current() {
  if (!stream_) return;
  ours_->record(*stream_);
  ours_->block(VirtualGuardImpl(stream_->device_type()).getStream(stream_->device()));
}

}  // namespace bench
