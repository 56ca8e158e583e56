// Memory of emulated devices: address space without memory behind it, counted against the size that the
// device file states.
#pragma once
#include <c10/core/Allocator.h>

namespace bench::emulated {

// Allocates on the calling thread's current device. Throws std::runtime_error (`out of memory: ...`) when the
// device's limit would be exceeded. Counted is what tensors hold, not what a caching allocator keeps besides.
c10::Allocator& memory();

// For every device from now on; 0: no limit.
void limit_memory(int64_t bytes);

struct MemoryUse {
  int64_t bytes = 0, peak_bytes = 0;
};
MemoryUse memory_use(int device);

}  // namespace bench::emulated
