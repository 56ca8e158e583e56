// Reads image files, or images within larger files, through the page cache.
#include "bench/loading/storage/file_reader.h"

namespace bench {
namespace {

class Files : public DatasetStorage {
 public:
  Files(const std::string& name, const Dataset& dataset, bool readahead)
      : DatasetStorage(name, dataset), readahead_(readahead) {
    reader();
  }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(dataset_.root, dataset_.images, readahead_,
                                        "name the folder that holds train/ with --data");
  }

  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    return dataset_.files_of(records);
  }

 private:
  const bool readahead_;
};

[[maybe_unused]] const bool registered_storage_files = StorageRegistry::instance().add(
    {"storage", "files", "image files on disk; page cache as set by `cache`", {}, ""},
    [](const StorageOptions& options) { return files_in_place("files", options); });

}  // namespace

std::unique_ptr<Storage> files_in_place(const std::string& name, const StorageOptions& options) {
  return std::make_unique<Files>(name, options.dataset, options.readahead);
}

}  // namespace bench
