// Image files in memory: copied to a mounted tmpfs or, if there is none, held by this process.
#include "bench/loading/storage/files.h"

namespace bench {
namespace {

class OnTmpfs : public DatasetStorage {
 public:
  explicit OnTmpfs(const StorageOptions& options)
      : DatasetStorage("tmpfs", options.dataset), location_(options.location), images_(dataset_.images) {
    for (ImageEntry& image : images_) image.offset = -1;  // the copy has a file for each image
    reader();
  }
  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(location_, images_, true,
                                        "copy the data set with `make_dataset pack --to tmpfs`");
  }

 private:
  std::filesystem::path location_;
  std::vector<ImageEntry> images_;
};

[[maybe_unused]] const bool registered_storage_tmpfs = StorageRegistry::instance().add(
    {"storage",
     "tmpfs",
     "image files in memory: copied to a tmpfs, or held by the process if no tmpfs has room",
     {.packed = true, .transient = true, .page_cache = false}},
    [](const StorageOptions& options) -> std::unique_ptr<Storage> {
      if (!options.location.empty()) return std::make_unique<OnTmpfs>(options);
      const auto& images = options.dataset.images;
      return in_memory(
          "memory", files_in_place("files", options), options.records,
          [&](int64_t record) { return static_cast<size_t>(images.at(size_t(record)).bytes); },
          "mount a larger tmpfs");
    });

}  // namespace
}  // namespace bench
