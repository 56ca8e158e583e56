// One block of memory holds the images, one after another in the order of their records.
#include <fmt/format.h>

#include <algorithm>

#include "bench/loading/storage/storage.h"
#include "harness/base/process_limits.h"

namespace bench {
namespace {

class InMemory : public StorageAround {
 public:
  InMemory(const char* name, std::unique_ptr<Storage> storage, std::vector<int64_t> records,
           const std::function<size_t(int64_t)>& bytes_of, const std::string& instead)
      : StorageAround(std::move(storage)), name_(name), records_(std::move(records)) {
    if (records_.empty())
      for (int64_t record = 0; record < size(); ++record) records_.push_back(record);
    size_t bytes = 0;
    for (const int64_t record : records_) bytes += bytes_of(record);
    if (const auto free = base::process_limits().free_memory_bytes; static_cast<int64_t>(bytes) > free)
      throw std::runtime_error(fmt::format(
          "{} images need {} MiB of memory and {} MiB are free: use fewer or smaller images, or {}",
          records_.size(), bytes >> 20, free >> 20, instead));
    memory_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    const std::unique_ptr<StorageReader> reader = storage_->reader();
    uint8_t* place = memory_.get();
    for (const int64_t record : records_) {
      EncodedImage& image = images_.emplace_back();
      const size_t room = bytes_of(record);
      try {
        image = reader->read(record);
        image.bytes = image.bytes.first(std::min(image.bytes.size(), room));
        std::copy(image.bytes.begin(), image.bytes.end(), place);
        image.bytes = {place, image.bytes.size()};
      } catch (const std::runtime_error&) {
        image = {};  // the reader tries again and throws: the loader counts it as a bad image
      }
      place += room;
    }
  }

  std::string used() const override { return name_; }
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const override { return {}; }
  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this, others = storage_->reader()](int64_t record) {
      const auto found = std::lower_bound(records_.begin(), records_.end(), record);
      if (found != records_.end() && *found == record)
        if (const EncodedImage& image = images_[size_t(found - records_.begin())]; image.bytes.data())
          return image;
      return others->read(record);  // unreadable, or a replacement for a bad image
    });
  }

 private:
  const char* name_;
  std::vector<int64_t> records_;
  std::vector<EncodedImage> images_;  // of records_; without bytes: it could not be read
  std::unique_ptr<uint8_t[]> memory_;
};

}  // namespace

std::unique_ptr<Storage> in_memory(const char* name, std::unique_ptr<Storage> storage,
                                   std::vector<int64_t> records,
                                   const std::function<size_t(int64_t)>& bytes_of,
                                   const std::string& instead) {
  return std::make_unique<InMemory>(name, std::move(storage), std::move(records), bytes_of, instead);
}

}  // namespace bench
