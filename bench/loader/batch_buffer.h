// Memory of one batch, aligned to cache lines and touched when made: no page fault is left to the timed loop.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace bench {

class BatchBuffer {
 public:
  static constexpr size_t kAlignment = 64, kHugePage = size_t{2} << 20;

  BatchBuffer(int64_t batch_size, int64_t bytes_per_image)
      : images_(allocate<uint8_t>(batch_size * bytes_per_image)), labels_(allocate<int64_t>(batch_size)) {}
  uint8_t* images() { return images_.get(); }
  int64_t* labels() { return labels_.get(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  template <class T>
  static std::unique_ptr<T[], Free> allocate(int64_t count) {
    const size_t wanted = static_cast<size_t>(count) * sizeof(T);
    const size_t alignment = wanted < kHugePage ? kAlignment : kHugePage;
    const size_t bytes = (wanted + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (!memory) throw std::bad_alloc();
    if (alignment == kHugePage)
      ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: fewer page walks while it is filled
    std::memset(memory, 0, bytes);
    return std::unique_ptr<T[], Free>(static_cast<T*>(memory));
  }

  std::unique_ptr<uint8_t[], Free> images_;
  std::unique_ptr<int64_t[], Free> labels_;
};

}  // namespace bench
