// One HDF5 file; the images that the slice needs are loaded into memory before the slice.
#include "bench/registry/registry.h"

namespace bench {

static const Value kHdf5Whole = {"storage",
                                 "hdf5_whole",
                                 "one HDF5 file, its images loaded into memory before the slice",
                                 {.packed = true, .page_cache = false}};

}  // namespace bench

#ifdef HAVE_HDF5
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/loading/storage/hdf5_file.h"
#include "harness/base/process_limits.h"

namespace bench {
namespace {

class Hdf5Whole : public DatasetStorage {
 public:
  explicit Hdf5Whole(const StorageOptions& options)
      : DatasetStorage(options.dataset), file_(options), records_(options.records) {
    if (records_.empty())
      for (int64_t record = 0; record < file_.records(); ++record) records_.push_back(record);
    starts_.push_back(0);
    for (const int64_t record : records_) starts_.push_back(starts_.back() + file_.bytes(record));
    if (const auto free = base::process_limits().free_memory_bytes;
        static_cast<int64_t>(starts_.back()) > free)
      throw std::runtime_error(
          fmt::format("{} images of {} need {} MiB of memory and {} MiB are free: use fewer or smaller "
                      "images, or storage hdf5, which reads them one by one",
                      records_.size(), file_.path().string(), starts_.back() >> 20, free >> 20));
    images_ = std::make_unique_for_overwrite<uint8_t[]>(starts_.back());
    for (size_t i = 0; i < records_.size(); ++i) file_.read(records_[i], images_.get() + starts_[i]);
  }

  std::string used() const override { return "hdf5_whole"; }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(const Hdf5Whole& storage) : storage_(storage) {}
    EncodedImage read(int64_t record) override {
      const auto& [records, starts] = std::tie(storage_.records_, storage_.starts_);
      const auto found = std::lower_bound(records.begin(), records.end(), record);
      const Hdf5File& file = storage_.file_;
      if (found == records.end() || *found != record) {  // a replacement for a bad image
        replacement_.resize(file.bytes(record));
        file.read(record, replacement_.data());
        return {replacement_, file.label(record)};
      }
      const auto i = static_cast<size_t>(found - records.begin());
      return {{storage_.images_.get() + starts[i], starts[i + 1] - starts[i]}, file.label(record)};
    }

   private:
    const Hdf5Whole& storage_;
    std::vector<uint8_t> replacement_;
  };

  Hdf5File file_;
  std::vector<int64_t> records_;
  std::vector<size_t> starts_;  // offset of records_[i] in images_; the last entry is the end
  std::unique_ptr<uint8_t[]> images_;
};

[[maybe_unused]] const bool registered_storage_hdf5_whole = StorageRegistry::instance().add(
    kHdf5Whole, [](const StorageOptions& options) { return std::make_unique<Hdf5Whole>(options); });

}  // namespace
}  // namespace bench
#else
#include "bench/loading/storage/optional_libraries.h"

namespace bench {
namespace {

const bool registered_storage_hdf5_whole = register_missing(kHdf5Whole, kNoHdf5);

}  // namespace
}  // namespace bench
#endif
