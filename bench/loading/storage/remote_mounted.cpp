// Reads images from an object store through an rclone mount: remote_mounted has no cache, remote_cached
// caches whole files on the client's disk.
#include <system_error>

#include "bench/loading/storage/files.h"

namespace bench {
namespace {

class RemoteMounted : public DatasetStorage {
 public:
  RemoteMounted(const char* name, bool cached, const StorageOptions& options)
      : DatasetStorage(name, options.dataset),
        cached_(cached),
        location_(options.location),
        readahead_(options.readahead) {
    reader();
    look_folders_up(options.records);
  }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(location_, dataset_.images, readahead_,
                                        "run_matrix mounts an object store for each of its rows");
  }

  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    if (!cached_) return {};
    Dataset mounted = dataset_;
    mounted.root = location_;
    return mounted.files_of(records);
  }

 private:
  // HTTP can't list a folder with sizes: at the first lookup in a folder, rclone sends a HEAD request for
  // every file in it. Done in advance, because this cost is not part of reading an image.
  void look_folders_up(const std::vector<int64_t>& records) const {
    std::string last;
    for (const int64_t record : records) {
      const std::string path = dataset_.images.at(record).file();
      const std::string folder = path.substr(0, path.rfind('/'));
      if (folder == last) continue;
      last = folder;
      std::error_code missing;  // missing images are counted when they are read
      [[maybe_unused]] const auto facts = std::filesystem::status(location_ / path, missing);
    }
  }

  const bool cached_;
  const std::filesystem::path location_;
  const bool readahead_;
};

[[maybe_unused]] const bool mounted_registered = StorageRegistry::instance().add(
    {"storage",
     "remote_mounted",
     "the same object store through an rclone mount without a cache",
     {.service = "mount", .page_cache = false}},
    [](const StorageOptions& options) {
      return std::make_unique<RemoteMounted>("remote_mounted", false, options);
    });

[[maybe_unused]] const bool cached_registered = StorageRegistry::instance().add(
    {"storage",
     "remote_cached",
     "the same through an rclone mount with a cache of whole files: empty (cold) or filled (warm)",
     {.service = "mount_cached"}},
    [](const StorageOptions& options) {
      return std::make_unique<RemoteMounted>("remote_cached", true, options);
    });

}  // namespace
}  // namespace bench
