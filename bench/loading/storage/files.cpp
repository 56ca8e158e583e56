// Reads the data set's original image files through the page cache.
#include "bench/loading/storage/file_reader.h"

namespace bench {
namespace {

class Files : public DatasetStorage {
 public:
  explicit Files(const StorageOptions& options)
      : DatasetStorage(options.dataset), readahead_(options.readahead) {
    reader();
  }

  std::string used() const override { return "files"; }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(dataset_.root, dataset_.images, readahead_,
                                        "name the folder that holds train/ with --data");
  }

  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    std::vector<std::filesystem::path> paths;
    paths.reserve(records.size());
    for (const int64_t record : records) paths.push_back(dataset_.root / dataset_.images.at(record).path);
    return paths;
  }

 private:
  bool readahead_;
};

[[maybe_unused]] const bool registered_storage_files = StorageRegistry::instance().add(
    {"storage", "files", "image files on disk; page cache as set by `cache`", {}, ""},
    [](const StorageOptions& options) { return std::make_unique<Files>(options); });

}  // namespace
}  // namespace bench
