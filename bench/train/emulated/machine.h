// The emulated devices of this process. LibTorch calls a device through global tables, so they are global
// too.
#pragma once
#include <ATen/core/Tensor.h>

#include "bench/train/timeline/durations.h"
#include "bench/train/timeline/gradient_order.h"
#include "bench/train/timeline/timelines.h"

namespace bench::emulated {

constexpr int kMostDevices = harness::kMostEmulatedDevices;  // of one process

struct Machine {
  Machine(Durations all, int devices) : durations(std::move(all)), timelines(devices, durations.launch()) {}
  Durations durations;
  Timelines timelines;
  int64_t weights = 0;              // of the network
  int64_t batch_norm_channels = 0;  // of all layers
  GradientOrder order;
  bool several_ranks = false;    // they reduce gradients over a backend
  int64_t batch_divisor = 1;     // the emulated batch is this many times that of the tensors
  int64_t activation_bytes = 4;  // of an element
  int64_t wire_divisor = 1;      // bytes between nodes are divided by it
  bool tree = false;             // they are those of NCCL's tree, not of its ring
};

// Registers the device with LibTorch (PrivateUse1, named `emulated`) and sets the process's machine. Call it
// once, before the first tensor is made there.
void install(std::unique_ptr<Machine> machine);
// What install() registers besides: see operators.cpp.
void register_operators();
Machine& machine();

// Of the calling thread.
int current_device();
void set_current_device(int device);
int current_stream();
int stream_of(int device);  // the calling thread's current stream there
// One operation of `launches` kernels on the calling thread's current stream.
void launch(Nanoseconds duration, int launches = 1);

// Whether a tensor holds real values: integers and tensors of at most 64 elements do; of all others, which
// are weights, gradients and activations, the memory is never touched.
bool has_values(const at::Tensor& tensor);
// The same memory as a tensor of the CPU.
at::Tensor on_cpu(const at::Tensor& tensor);

}  // namespace bench::emulated
