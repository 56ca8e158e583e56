// Image files in memory: copied to a mounted tmpfs or, if there is none, held by this process.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/loading/storage/file_reader.h"
#include "harness/base/process_limits.h"

namespace bench {
namespace {

class Mapped {
 public:
  explicit Mapped(size_t bytes) : bytes_(std::max<size_t>(bytes, 1)) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
      throw std::runtime_error(fmt::format("can't map {} bytes: {}", bytes, std::strerror(errno)));
  }
  Mapped(const Mapped&) = delete;
  ~Mapped() { ::munmap(memory_, bytes_); }
  uint8_t* bytes() const { return static_cast<uint8_t*>(memory_); }

 private:
  size_t bytes_;
  void* memory_;
};

class OnTmpfs : public DatasetStorage {
 public:
  explicit OnTmpfs(const StorageOptions& options)
      : DatasetStorage(options.dataset), location_(options.location), images_(dataset_.images) {
    for (ImageEntry& image : images_) image.offset = -1;  // the copy has a file for each image
    reader();
  }
  std::string used() const override { return "tmpfs"; }
  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(location_, images_, true,
                                        "copy the data set with `make_dataset pack --to tmpfs`");
  }

 private:
  std::filesystem::path location_;
  std::vector<ImageEntry> images_;
};

class InMemory : public DatasetStorage {
 public:
  explicit InMemory(const StorageOptions& options)
      : DatasetStorage(options.dataset), records_(options.records) {
    int64_t bytes = 0;
    for (const int64_t record : records_) bytes += dataset_.images.at(record).bytes;
    if (bytes > base::process_limits().free_memory_bytes)
      throw std::runtime_error(
          fmt::format("{} images need {} MiB of memory and {} MiB are free: use fewer or smaller images, or "
                      "mount a larger tmpfs",
                      records_.size(), bytes >> 20, base::process_limits().free_memory_bytes >> 20));
    mapping_ = std::make_unique<Mapped>(static_cast<size_t>(bytes));
    const std::unique_ptr<StorageReader> files = file_reader();
    places_.reserve(records_.size());
    size_t offset = 0;
    for (const int64_t record : records_) {
      const auto& image = dataset_.images.at(record);
      size_t size = 0;
      try {
        const EncodedImage encoded = files->read(record);
        size = std::min(encoded.bytes.size(), static_cast<size_t>(image.bytes));
        std::memcpy(mapping_->bytes() + offset, encoded.bytes.data(), size);
      } catch (const std::runtime_error&) {
        size = kUnreadable;  // the reader tries again and throws: the loader counts it as a bad image
      }
      places_.push_back({offset, size});
      offset += static_cast<size_t>(image.bytes);
    }
  }

  std::string used() const override { return "memory"; }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }

 private:
  static constexpr size_t kUnreadable = SIZE_MAX;
  struct Place {
    size_t offset, size;
  };

  class Reader : public StorageReader {
   public:
    explicit Reader(const InMemory& storage) : storage_(storage), files_(storage.file_reader()) {}
    EncodedImage read(int64_t record) override {
      const auto found = std::lower_bound(storage_.records_.begin(), storage_.records_.end(), record);
      const bool kept = found != storage_.records_.end() && *found == record;
      const Place place = kept ? storage_.places_[found - storage_.records_.begin()] : Place{0, kUnreadable};
      if (place.size == kUnreadable)
        return files_->read(record);  // unreadable, or a replacement for a bad image
      return {{storage_.mapping_->bytes() + place.offset, place.size},
              storage_.dataset_.images[record].label};
    }

   private:
    const InMemory& storage_;
    std::unique_ptr<StorageReader> files_;
  };

  std::unique_ptr<StorageReader> file_reader() const {
    return std::make_unique<FileReader>(dataset_.root, dataset_.images, true,
                                        "name the folder that holds train/ with --data");
  }

  std::vector<int64_t> records_;
  std::vector<Place> places_;  // of records_[i]
  std::unique_ptr<Mapped> mapping_;
};

[[maybe_unused]] const bool registered_storage_tmpfs = StorageRegistry::instance().add(
    {"storage",
     "tmpfs",
     "image files in memory: copied to a tmpfs, or held by the process if no tmpfs has room",
     {.packed = true, .transient = true, .page_cache = false},
     ""},
    [](const StorageOptions& options) -> std::unique_ptr<Storage> {
      if (options.location.empty()) return std::make_unique<InMemory>(options);
      return std::make_unique<OnTmpfs>(options);
    });

}  // namespace
}  // namespace bench
