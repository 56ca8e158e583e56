// The device as LibTorch sees it: streams are timelines and events are instants. Its operators are in
// operators.cpp.
#include "bench/train/emulated/machine.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "bench/train/emulated/memory.h"

namespace bench::emulated {
namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;
std::unique_ptr<Machine> the_machine;
thread_local c10::DeviceIndex device_index = 0;
thread_local c10::StreamId stream_ids[kMostDevices] = {};

c10::DeviceIndex index_of(c10::Device device) { return device.index() < 0 ? device_index : device.index(); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kDevice; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {kDevice, std::exchange(device_index, index_of(device))};
  }
  c10::Device getDevice() const override { return {kDevice, device_index}; }
  void setDevice(c10::Device device) const override { device_index = index_of(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { device_index = index_of(device); }
  c10::Stream stream(c10::Device device, c10::StreamId id) const {
    return c10::Stream(c10::Stream::UNSAFE, {kDevice, index_of(device)}, id);
  }
  c10::Stream getStream(c10::Device device) const override {
    return stream(device, stream_ids[index_of(device)]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream(device, 0); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    static std::atomic<int> next = 0;
    // 1 is the copies', the last two are the collectives'.
    return stream(device, 2 + next++ % (Timelines::kStreams - 4));
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return getStreamFromGlobalPool(device, false);
  }
  c10::Stream exchangeStream(c10::Stream to) const override {
    return stream(to.device(), std::exchange(stream_ids[to.device_index()], to.id()));
  }
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (!*event) *event = new Nanoseconds(0);
    *static_cast<Nanoseconds*>(*event) = machine().timelines.tail(stream.device_index(), int(stream.id()));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event)
      machine().timelines.hold_up(stream.device_index(), int(stream.id()), *static_cast<Nanoseconds*>(event));
  }
  bool queryEvent(void* event) const override {
    return !event || *static_cast<Nanoseconds*>(event) <= steady_now();
  }
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {  // ms
    return double(*static_cast<Nanoseconds*>(to) - *static_cast<Nanoseconds*>(from)) * 1e-6;
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Nanoseconds*>(event);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    machine().timelines.wait(stream.device_index(),
                             machine().timelines.tail(stream.device_index(), int(stream.id())));
  }
  void synchronizeEvent(void* event) const override {
    if (event) machine().timelines.wait(device_index, *static_cast<Nanoseconds*>(event));
  }
  void synchronizeDevice(c10::DeviceIndex device) const override {
    machine().timelines.wait(device, machine().timelines.tail_of_all(device));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kMostDevices; }
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kMostDevices; }
  c10::DeviceIndex getCurrentDevice() const override { return device_index; }
  bool isAvailable() const override { return true; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetAllocator(c10::kCPU); }
};

}  // namespace

void install(std::unique_ptr<Machine> machine) {
  const bool first = !the_machine;
  the_machine = std::move(machine);
  if (!first) return;
  c10::register_privateuse1_backend("emulated");
  static Guard guard;
  static const c10::impl::DeviceGuardImplRegistrar registrar(kDevice, &guard);
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  c10::SetAllocator(kDevice, &memory());
  register_operators();
}

Machine& machine() { return *the_machine; }
int current_device() { return device_index; }
void set_current_device(int device) { device_index = c10::DeviceIndex(device); }
int stream_of(int device) { return int(stream_ids[device]); }
int current_stream() { return stream_of(device_index); }
void launch(Nanoseconds duration, int launches) {
  machine().timelines.launch(device_index, current_stream(), duration, launches);
}
bool has_values(const at::Tensor& tensor) { return tensor.numel() <= 64 || !tensor.is_floating_point(); }

}  // namespace bench::emulated
