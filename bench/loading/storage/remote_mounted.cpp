// Images of an object store through an rclone mount: remote_mounted keeps nothing, remote_cached keeps whole
// files on the disk of this side.
#include <system_error>

#include "bench/loading/storage/file_reader.h"

namespace bench {
namespace {

class RemoteMounted : public DatasetStorage {
 public:
  RemoteMounted(const char* name, bool cached, const StorageOptions& options)
      : DatasetStorage(options.dataset),
        name_(name),
        cached_(cached),
        location_(options.location),
        readahead_(options.readahead) {
    reader();
    look_folders_up(options.records);
  }

  std::string used() const override { return name_; }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(location_, dataset_.images, readahead_,
                                        "run_matrix mounts an object store for each of its rows");
  }

  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    std::vector<std::filesystem::path> paths;
    if (!cached_) return paths;
    paths.reserve(records.size());
    for (const int64_t record : records) paths.push_back(location_ / dataset_.images.at(record).path);
    return paths;
  }

 private:
  // HTTP has no call that lists a folder with sizes: when the first name of a folder is looked up, rclone
  // asks for the head of every file in it. That is how the mount works and no part of reading an image.
  void look_folders_up(const std::vector<int64_t>& records) const {
    std::string last;
    for (const int64_t record : records) {
      const std::string& path = dataset_.images.at(record).path;
      const std::string folder = path.substr(0, path.rfind('/'));
      if (folder == last) continue;
      last = folder;
      std::error_code missing;  // an image that isn't there counts when it is read
      [[maybe_unused]] const auto facts = std::filesystem::status(location_ / path, missing);
    }
  }

  const char* name_;
  const bool cached_;
  const std::filesystem::path location_;
  const bool readahead_;
};

[[maybe_unused]] const bool mounted_registered = StorageRegistry::instance().add(
    {"storage",
     "remote_mounted",
     "the same object store as files of an rclone mount without a cache",
     {{"service", "mount"}, {"page_cache", false}},
     ""},
    [](const StorageOptions& options) {
      return std::make_unique<RemoteMounted>("remote_mounted", false, options);
    });

[[maybe_unused]] const bool cached_registered = StorageRegistry::instance().add(
    {"storage",
     "remote_cached",
     "the same through an rclone mount with a cache of whole files: empty (cold) or filled (warm)",
     {{"service", "mount_cached"}},
     ""},
    [](const StorageOptions& options) {
      return std::make_unique<RemoteMounted>("remote_cached", true, options);
    });

}  // namespace
}  // namespace bench
