// One HDF5 file of all images; reads one range per image.
#include "bench/registry/registry.h"

namespace bench {

static const Value kHdf5 = {"storage", "hdf5", "one HDF5 file, one range read per image", {.packed = true}};

}  // namespace bench

#ifdef HAVE_HDF5
#include <algorithm>

#include "bench/loading/storage/hdf5_file.h"

namespace bench {
namespace {

class Hdf5 : public DatasetStorage {
 public:
  explicit Hdf5(const StorageOptions& options) : DatasetStorage(options.dataset), file_(options) {}
  std::string used() const override { return "hdf5"; }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(file_); }
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const override {
    return {file_.path()};
  }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(const Hdf5File& file) : file_(file) {}
    EncodedImage read(int64_t record) override {
      const size_t size = file_.bytes(record);
      if (capacity_ < size) {
        capacity_ = std::max(2 * capacity_, size);
        buffer_ = std::make_unique_for_overwrite<uint8_t[]>(capacity_);
      }
      file_.read(record, buffer_.get());
      return {{buffer_.get(), size}, file_.label(record)};
    }

   private:
    const Hdf5File& file_;
    std::unique_ptr<uint8_t[]> buffer_;
    size_t capacity_ = 0;
  };

  Hdf5File file_;
};

[[maybe_unused]] const bool registered_storage_hdf5 = StorageRegistry::instance().add(
    kHdf5, [](const StorageOptions& options) { return std::make_unique<Hdf5>(options); });

}  // namespace
}  // namespace bench
#else
#include "bench/loading/storage/optional_libraries.h"

namespace bench {
namespace {

const bool registered_storage_hdf5 = register_missing(kHdf5, kNoHdf5);

}  // namespace
}  // namespace bench
#endif
