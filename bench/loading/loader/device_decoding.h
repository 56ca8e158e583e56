// Image decoding on a device (row field `decoder: nvjpeg`); the loader's threads only launch it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "bench/image/decode.h"
#include "bench/loading/loader/batch_buffer.h"

namespace bench {

// All members empty: decoding on the CPU.
struct DeviceDecoding {
  // Called once per loader thread. The decoder writes crops to memory from `allocate_images`; crop() returns
  // when the write is complete.
  std::function<std::unique_ptr<Decoder>()> make_decoder;
  Allocator allocate_images;  // allocates device memory for whole batches
  // Copies from host memory to such memory; complete on return.
  std::function<void(void* to, const void* from, size_t bytes)> fill;
  std::function<int64_t()> left_to_cpu;  // number of images that the CPU decoded because the device can't
};

}  // namespace bench
