// No images: the same generated batches are reused, to measure the throughput of compute alone.
#include "bench/loading/storage/storage.h"

namespace bench {
namespace {

class Synthetic : public Storage {
 public:
  explicit Synthetic(const StorageOptions& options)
      : size_(static_cast<int64_t>(options.dataset.images.size())) {}
  int64_t size() const override { return size_; }
  std::string used() const override { return "synthetic"; }
  bool generates_batches() const override { return true; }
  std::unique_ptr<StorageReader> reader() override {
    throw std::logic_error("the synthetic storage has no records to read; its batches are generated");
  }

 private:
  int64_t size_;
};

[[maybe_unused]] const bool registered_storage_synthetic = StorageRegistry::instance().add(
    {"storage",
     "synthetic",
     "no loading: fixed random batches, generated once (the compute ceiling)",
     {.page_cache = false}},
    [](const StorageOptions& options) { return std::make_unique<Synthetic>(options); });

}  // namespace
}  // namespace bench
