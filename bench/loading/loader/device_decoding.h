// Decoding by a device in place of the loader's threads, which then only start it: `decoder: nvjpeg`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "bench/image/decode.h"
#include "bench/loading/loader/batch_buffer.h"

namespace bench {

// Empty members: as without a device.
struct DeviceDecoding {
  // Called once for each loader thread. What it makes writes crops into memory of `allocate_images`, and they
  // are there when crop() returns.
  std::function<std::unique_ptr<Decoder>()> make_decoder;
  Allocator allocate_images;  // of whole batches, in memory that the host can't touch
  // From host memory into such memory; it is there on return.
  std::function<void(void* to, const void* from, size_t bytes)> fill;
  std::function<int64_t()> left_to_cpu;  // images so far that the device refused and the CPU decoded
};

}  // namespace bench
