// Reserves address space with mmap() without touching it, reuses freed blocks, and enforces the size limit.
#include "bench/train/emulated/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "bench/train/emulated/machine.h"

namespace bench::emulated {
namespace {

// Before each block's memory, on a page of its own so that the memory is aligned to pages.
struct Head {
  size_t whole = 0;  // bytes of the block
  size_t asked = 0;
  int device = 0;
};
constexpr size_t kPage = 4096;

// Blocks that were freed, by size, and what the devices hold. Never destroyed, because tensors may be freed
// after static objects.
struct Books {
  std::mutex mutex;
  std::map<size_t, std::vector<void*>> free_blocks;
  std::array<MemoryUse, kMostDevices> uses;
  int64_t limit_bytes = 0;
};
Books& books() {
  static Books& books = *new Books;
  return books;
}

double gib(int64_t bytes) { return double(bytes) / double(int64_t(1) << 30); }

// The books' lock is held.
void count(Books& all, size_t bytes, int device) {
  MemoryUse& use = all.uses[size_t(device)];
  const int64_t then = use.bytes + int64_t(bytes);
  if (all.limit_bytes > 0 && then > all.limit_bytes)
    throw std::runtime_error(
        fmt::format("out of memory: emulated device {} has {:.2f} GiB, tensors hold {:.2f} GiB of them, and "
                    "{:.2f} GiB more are "
                    "needed; use a smaller batch, accumulation or 16-bit weights",
                    device, gib(all.limit_bytes), gib(use.bytes), gib(int64_t(bytes))));
  use.bytes = then;
  use.peak_bytes = std::max(use.peak_bytes, then);
}

// Pages come into being where values are written. Blocks are reused.
class Memory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(c10::DeviceType::PrivateUse1, c10::DeviceIndex(current_device()));
    if (bytes == 0) return {nullptr, nullptr, &free, device};
    const size_t whole = (bytes + kPage + kPage - 1) / kPage * kPage;
    void* block = nullptr;
    {
      Books& all = books();
      const std::lock_guard lock(all.mutex);
      count(all, bytes, device.index());
      if (auto& blocks = all.free_blocks[whole]; !blocks.empty()) {
        block = blocks.back();
        blocks.pop_back();
      }
    }
    if (!block) {
      block =
          ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (block == MAP_FAILED) throw std::bad_alloc();
    }
    *static_cast<Head*>(block) = {whole, bytes, device.index()};
    void* memory = static_cast<char*>(block) + kPage;
    return {memory, memory, &free, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }

 private:
  static void free(void* memory) {
    if (!memory) return;
    void* block = static_cast<char*>(memory) - kPage;
    const Head head = *static_cast<Head*>(block);
    Books& all = books();
    const std::lock_guard lock(all.mutex);
    all.uses[size_t(head.device)].bytes -= int64_t(head.asked);
    all.free_blocks[head.whole].push_back(block);
  }
};

}  // namespace

c10::Allocator& memory() {
  static Memory memory;
  return memory;
}

void limit_memory(int64_t bytes) {
  const std::lock_guard lock(books().mutex);
  books().limit_bytes = bytes;
}

MemoryUse memory_use(int device) {
  const std::lock_guard lock(books().mutex);
  return books().uses[size_t(device)];
}

}  // namespace bench::emulated
