// Memory of one batch, aligned to cache lines and written once on construction, so that the timed loop has no
// page faults.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

namespace bench {

// Returns memory aligned to cache lines, freed with its last owner. May throw std::bad_alloc.
using Allocator = std::function<std::shared_ptr<void>(size_t bytes)>;
using HostAllocator = Allocator;  // memory that the host can write, e.g. a device's pinned memory

class BatchBuffer {
 public:
  static constexpr size_t kAlignment = 64, kHugePage = size_t{2} << 20;

  // allocate_images: for images in memory that the host can't access (device memory); empty: `allocate` is
  // used for images too. Labels are int64.
  BatchBuffer(int64_t batch_size, int64_t bytes_per_image, const HostAllocator& allocate = on_heap,
              const Allocator& allocate_images = {})
      : images_((allocate_images ? allocate_images
                                 : allocate)(static_cast<size_t>(batch_size * bytes_per_image))),
        labels_(allocate(static_cast<size_t>(batch_size) * sizeof(int64_t))) {
    if (!allocate_images) std::memset(images_.get(), 0, static_cast<size_t>(batch_size * bytes_per_image));
    std::memset(labels_.get(), 0, static_cast<size_t>(batch_size) * sizeof(int64_t));
  }
  uint8_t* images() { return static_cast<uint8_t*>(images_.get()); }
  int64_t* labels() { return static_cast<int64_t*>(labels_.get()); }

  static std::shared_ptr<void> on_heap(size_t wanted) {
    const size_t alignment = wanted < kHugePage ? kAlignment : kHugePage;
    const size_t bytes = (wanted + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (!memory) throw std::bad_alloc();
    if (alignment == kHugePage)
      ::madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: fewer page walks while it is filled
    return {memory, std::free};
  }

 private:
  std::shared_ptr<void> images_, labels_;
};

}  // namespace bench
