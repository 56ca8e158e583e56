// Memory of one batch, aligned to cache lines and touched when made: no page fault is left to the timed loop.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

namespace bench {

// Memory from elsewhere than the heap, aligned to cache lines, freed with its last owner.
using Allocator = std::function<std::shared_ptr<void>(size_t bytes)>;
using HostAllocator = Allocator;  // memory that the host can write, e.g. a device's pinned memory

class BatchBuffer {
 public:
  static constexpr size_t kAlignment = 64, kHugePage = size_t{2} << 20;

  // allocate_images: of memory that the host can't touch; empty: images are where labels are.
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
      ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: fewer page walks while it is filled
    return {memory, std::free};
  }

 private:
  std::shared_ptr<void> images_, labels_;
};

}  // namespace bench
