// Wraps a storage and drops its files' pages from the page cache each time a byte budget has been read.
#include "bench/loading/storage/kept_cold.h"

#include <algorithm>
#include <optional>
#include <semaphore>
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
    turns_.emplace(std::clamp<int64_t>(budget_bytes_ / ahead, 1, kMostReaders));
  }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<Reader>(storage_->reader(), *this);
  }

 private:
  static constexpr int64_t kMostReaders = 1024;
  using Turns = std::optional<std::counting_semaphore<kMostReaders>>;
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns) {
      if (turns_) turns_->acquire();
    }
    ~Turn() {
      if (turns_) turns_->release();
    }
    Turn(const Turn&) = delete;

   private:
    Turns& turns_;
  };

  class Reader : public StorageReader {
   public:
    Reader(std::unique_ptr<StorageReader> reader, KeptCold& owner)
        : reader_(std::move(reader)), owner_(owner) {}

    EncodedImage read(int64_t record) override {
      if (!device_bytes_) device_bytes_.emplace();  // not in the constructor, which another thread calls
      const Turn turn(owner_.turns_);
      EncodedImage image = reader_->read(record);
      const bool copy = !owner_.shared_files_.empty();
      if (copy) {
        copy_.assign(image.bytes.begin(), image.bytes.end());
        image.bytes = copy_;
      }
      const auto read = device_bytes_->since_last();
      ++owner_.counts_.records;
      if (read == 0) ++owner_.counts_.cached;
      if (copy) owner_.brought_in(read.value_or(int64_t(image.bytes.size())));
      return image;
    }

   private:
    std::unique_ptr<StorageReader> reader_;
    KeptCold& owner_;
    std::optional<ThreadDeviceBytes> device_bytes_;
    std::vector<uint8_t> copy_;
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
  Turns turns_;                       // of readers; empty: all at once
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
