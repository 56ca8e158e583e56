// The device as LibTorch sees it: streams are timelines, events are instants, memory is address space, and
// kernels are durations. Operators that nothing is registered for run on the CPU (the loss, top-k: a few per
// step).
#include "bench/train/emulated/machine.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <map>
#include <mutex>

namespace bench::emulated {
namespace {

constexpr auto kDevice = c10::DeviceType::PrivateUse1;
std::unique_ptr<Machine> the_machine;
thread_local c10::DeviceIndex device_index = 0;
thread_local c10::StreamId stream_ids[kMostDevices] = {};
thread_local bool in_fallback = false;  // copies then move real bytes

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

// Address space without memory behind it: pages come into being where values are written. Blocks are reused.
class Memory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(kDevice, device_index);
    if (bytes == 0) return {nullptr, nullptr, &free, device};
    const size_t whole = (bytes + kHead + kHead - 1) / kHead * kHead;
    void* block = taken_from_pool(whole);
    if (!block) {
      block =
          ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (block == MAP_FAILED) throw std::bad_alloc();
      *static_cast<size_t*>(block) = whole;
    }
    void* memory = static_cast<char*>(block) + kHead;
    return {memory, memory, &free, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }

 private:
  static constexpr size_t kHead = 4096;  // holds the block's size; keeps the memory aligned to pages
  using Pool = std::map<size_t, std::vector<void*>>;
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static Pool& pool() {
    static Pool& pool = *new Pool;  // tensors may be freed after static objects
    return pool;
  }
  static void* taken_from_pool(size_t whole) {
    const std::lock_guard lock(mutex());
    auto& blocks = pool()[whole];
    if (blocks.empty()) return nullptr;
    void* block = blocks.back();
    blocks.pop_back();
    return block;
  }
  static void free(void* memory) {
    if (!memory) return;
    void* block = static_cast<char*>(memory) - kHead;
    const std::lock_guard lock(mutex());
    pool()[*static_cast<size_t*>(block)].push_back(block);
  }
};
Memory memory;

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

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_strided_generic(
      sizes, strides, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type.value_or(at::kFloat));
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_generic(sizes, &memory, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   type.value_or(at::kFloat), format);
}

at::Tensor strided_view(const at::Tensor& self, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                        std::optional<int64_t> offset) {
  auto view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()),
                                                       self.key_set(), self.dtype());
  view.unsafeGetTensorImpl()->set_storage_offset(offset.value_or(self.storage_offset()));
  view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return view;
}

at::Tensor view(const at::Tensor& self, c10::IntArrayRef asked) {
  const c10::DimVector sizes = at::infer_size_dv(asked, self.numel());
  const auto strides = at::detail::computeStride(self.sizes(), self.strides(), sizes);
  TORCH_CHECK(strides.has_value(), "view: the tensor's memory doesn't allow these sizes; use reshape");
  return strided_view(self, sizes, *strides, self.storage_offset());
}

const at::Tensor& resize(const at::Tensor& self, c10::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
  const size_t needed = size_t(c10::multiply_integers(sizes)) * self.element_size();
  c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
  if (storage->nbytes() < needed) {
    storage->set_data_ptr_noswap(memory.allocate(needed));
    storage->set_nbytes(needed);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return self;
}

// The same memory as a tensor of the CPU.
at::Tensor on_cpu(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       tensor.options().device(at::kCPU));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& target, bool non_blocking) {
  if (in_fallback) {
    on_cpu(target).copy_(on_cpu(self));
    return target;
  }
  Machine& all = machine();
  const double bytes = double(self.nbytes());
  if (has_values(self)) on_cpu(target).copy_(on_cpu(self));
  if (target.is_cpu()) {
    launch(all.durations.device_to_host(bytes));
    if (!non_blocking) all.timelines.wait(device_index, all.timelines.tail(device_index, current_stream()));
  } else if (self.is_cpu()) {
    launch(all.durations.host_to_device(bytes, non_blocking));
    if (!non_blocking) all.timelines.wait(device_index, all.timelines.tail(device_index, current_stream()));
  } else if (self.device() != target.device()) {
    const int from = self.device().index(), to = target.device().index();
    all.timelines.copy(from, int(stream_ids[from]), to, int(stream_ids[to]),
                       all.durations.images_between_devices(bytes));
  } else {
    launch(all.durations.element_wise(2 * bytes));
  }
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& target) {
  if (target.numel() != self.numel()) target.resize_(self.sizes());
  return copy_from(self, target, false);
}

at::Tensor& zero(at::Tensor& self) {
  launch(machine().durations.element_wise(double(self.nbytes())));
  if (has_values(self)) on_cpu(self).zero_();
  return self;
}

// Operators that change their first argument in place: the bytes of all their tensors are read or written
// once.
void time_only(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t arguments = op.schema().arguments().size();
  double bytes = 0;
  bool values = false;  // a small tensor among them: compute it really
  const auto add = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    bytes += double(tensor.nbytes());
  };
  for (size_t i = 0; i < arguments; ++i) {
    const c10::IValue& value = (*stack)[stack->size() - arguments + i];
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) add(tensor);
    else if (value.isTensor()) {
      add(value.toTensor());
      if (i == 0) values = has_values(value.toTensor());
    }
  }
  if (values) {
    launch(machine().durations.element_wise(bytes));
    in_fallback = true;
    at::native::cpu_fallback(op, stack);
    in_fallback = false;
    return;
  }
  launch(machine().durations.element_wise(bytes));
  const c10::IValue first = (*stack)[stack->size() - arguments];
  torch::jit::drop(*stack, arguments);
  if (!op.schema().returns().empty()) stack->push_back(first);
}

// The fused optimizer: the device file says what it takes for all weights.
void fused_sgd(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t arguments = op.schema().arguments().size();
  int64_t weights = 0;
  for (const at::Tensor& weight : (*stack)[stack->size() - arguments].toTensorVector())
    weights += weight.numel();
  Machine& all = machine();
  all.order.stepped(weights, std::max(all.timelines.tail(device_index, current_stream()),
                                      all.timelines.host(device_index)));
  launch(all.weights > 0
             ? Nanoseconds(double(all.durations.optimizer()) * double(weights) / double(all.weights))
             : all.durations.element_wise(5.0 * 4 * double(weights)));
  torch::jit::drop(*stack, arguments);
}

void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  launch(0);
  in_fallback = true;
  at::native::cpu_fallback(op, stack);
  in_fallback = false;
}

void register_operators() {
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  aten.impl("empty.memory_format", empty);
  aten.impl("empty_strided", empty_strided);
  aten.impl("as_strided", strided_view);
  aten.impl("view", view);
  aten.impl("resize_", resize);
  aten.impl("_copy_from", copy_from);
  aten.impl("_copy_from_and_resize", copy_from_and_resize);
  aten.impl("zero_", zero);
  for (const char* name : {"add_.Tensor", "mul_.Tensor", "mul_.Scalar", "div_.Tensor", "mul.out", "uniform_",
                           "normal_", "_foreach_copy_", "_foreach_add_.List", "_foreach_zero_",
                           "_foreach_mul_.Scalar", "_amp_foreach_non_finite_check_and_unscale_"})
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&time_only>());
  for (const char* name : {"_fused_sgd_", "_fused_sgd_.tensor_lr"})
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&fused_sgd>());
  static torch::Library others(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  others.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

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
  c10::SetAllocator(kDevice, &memory);
  register_operators();
}

Machine& machine() { return *the_machine; }
int current_device() { return device_index; }
void set_current_device(int device) { device_index = c10::DeviceIndex(device); }
int current_stream() { return int(stream_ids[device_index]); }
void launch(Nanoseconds duration, int launches) {
  machine().timelines.launch(device_index, current_stream(), duration, launches);
}
bool has_values(const at::Tensor& tensor) { return tensor.numel() <= 64 || !tensor.is_floating_point(); }

}  // namespace bench::emulated
