// Memory of one batch, aligned to cache lines and touched when made: no page fault is left to the timed loop.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace bench {

class BatchBuffer {
 public:
  static constexpr size_t kAlignment = 64;

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
    const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, bytes);
    if (!memory) throw std::bad_alloc();
    std::memset(memory, 0, bytes);
    return std::unique_ptr<T[], Free>(static_cast<T*>(memory));
  }

  std::unique_ptr<uint8_t[], Free> images_;
  std::unique_ptr<int64_t[], Free> labels_;
};

}  // namespace bench
