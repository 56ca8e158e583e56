// Wraps a storage and drops its files' pages from the page cache each time a byte budget has been read.
#include "bench/loading/storage/kept_cold.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "bench/loading/storage/page_cache.h"

namespace bench {
namespace {

constexpr int64_t kDropsPerSet = 20;

class KeptCold : public StorageAround {
 public:
  KeptCold(std::unique_ptr<Storage> storage, FileList shared_files, int64_t processes, ReadCounts& counts)
      : StorageAround(std::move(storage)), shared_files_(std::move(shared_files)), counts_(counts) {
    for (const auto& file : shared_files_) budget_bytes_ += int64_t(std::filesystem::file_size(file));
    budget_bytes_ /= kDropsPerSet * processes;
    if (shared_files_.empty()) return;
    const int64_t ahead = std::max<int64_t>(1, read_ahead_kb(shared_files_.front()).value_or(128) * 1024);
    turns_ = std::max<int64_t>(1, budget_bytes_ / ahead);
  }

  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this, reader = storage_->reader(), device_bytes = std::optional<ThreadDeviceBytes>(),
                        copy = std::vector<uint8_t>()](int64_t record) mutable {
      if (!device_bytes) device_bytes.emplace();  // here, because another thread makes the reader
      const bool shared = !shared_files_.empty();
      std::optional<Turn> turn;
      if (shared) turn.emplace(*this);
      EncodedImage image = reader->read(record);
      if (shared) {
        copy.assign(image.bytes.begin(), image.bytes.end());
        image.bytes = copy;
      }
      const auto read = device_bytes->since_last();
      ++counts_.records;
      if (read == 0) ++counts_.cached;
      if (shared) brought_in(read.value_or(int64_t(image.bytes.size())));
      return image;
    });
  }

 private:
  // (A std::counting_semaphore of GCC 12 can leave a thread asleep although a turn is free.)
  class Turn {
   public:
    explicit Turn(KeptCold& owner) : owner_(owner) {
      std::unique_lock lock(owner_.mutex_);
      owner_.turn_ended_.wait(lock, [&] { return owner_.turns_ > 0; });
      --owner_.turns_;
    }
    ~Turn() {
      const std::lock_guard lock(owner_.mutex_);
      ++owner_.turns_;
      owner_.turn_ended_.notify_one();
    }
    Turn(const Turn&) = delete;

   private:
    KeptCold& owner_;
  };

  void brought_in(int64_t bytes) {
    if (in_cache_.fetch_add(bytes) + bytes < budget_bytes_) return;
    if (in_cache_.exchange(0) < budget_bytes_) return;  // another thread drops
    storage_->release_mapped_pages();
    drop_clean_pages(shared_files_);
  }

  const FileList shared_files_;  // that hold several records each; empty: none does
  ReadCounts& counts_;
  int64_t budget_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable turn_ended_;
  int64_t turns_ = 0;                 // of shared files: how many more readers may read now
  std::atomic<int64_t> in_cache_{0};  // bytes that were read from the device since the last drop
};

}  // namespace

std::unique_ptr<Storage> kept_cold(std::unique_ptr<Storage> storage, const std::vector<int64_t>& records,
                                   int64_t processes, ReadCounts& counts) {
  FileList files = storage->cached_files(records);
  if (files.empty()) return storage;
  if (files.size() >= records.size()) files.clear();
  return std::make_unique<KeptCold>(std::move(storage), std::move(files), processes, counts);
}

}  // namespace bench
