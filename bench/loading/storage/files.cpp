// Reads image files, or images within larger files, through the page cache: those of the data set, or of a
// copy as tars.
#include "bench/loading/storage/file_reader.h"

namespace bench {
namespace {

class Files : public DatasetStorage {
 public:
  Files(const std::string& name, const Dataset& dataset, bool readahead)
      : DatasetStorage(dataset), name_(name), readahead_(readahead) {
    reader();
  }

  std::string used() const override { return name_; }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(dataset_.root, dataset_.images, readahead_,
                                        "name the folder that holds train/ with --data");
  }

  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    return dataset_.files_of(records);
  }

 private:
  const std::string name_;
  const bool readahead_;
};

std::unique_ptr<Storage> tars(const StorageOptions& options) {
  if (options.location == options.dataset.root) return files_in_place("webdataset", options);
  Dataset copy;
  std::string why = "it holds too few images";
  try {
    copy = read_index(options.location / kCopyIndex);
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  if (static_cast<int64_t>(copy.images.size()) < records_needed(options))
    throw std::runtime_error("the copy as tars in '" + options.location.string() + "' can't be used: " + why +
                             "; " + pack_again("webdataset", options.location));
  copy.root = options.location;
  return std::make_unique<Files>("webdataset", copy, options.readahead);
}

[[maybe_unused]] const bool registered_storage_files = StorageRegistry::instance().add(
    {"storage", "files", "image files on disk; page cache as set by `cache`", {}, ""},
    [](const StorageOptions& options) { return files_in_place("files", options); });

const Value kWebdataset = {"storage",
                           "webdataset",
                           "tar files: each image is read from its place in a tar",
                           {.packed = true, .stream = true}};

#ifdef HAVE_LIBARCHIVE  // which make_dataset packs and lists them with
[[maybe_unused]] const bool registered_storage_webdataset =
    StorageRegistry::instance().add(kWebdataset, tars);
#else
[[maybe_unused]] const auto* const unused_here = &tars;
[[maybe_unused]] const bool registered_storage_webdataset =
    register_missing(kWebdataset, "this build found no libarchive: install libarchive-dev and build again");
#endif

}  // namespace

std::unique_ptr<Storage> files_in_place(const std::string& name, const StorageOptions& options) {
  return std::make_unique<Files>(name, options.dataset, options.readahead);
}

}  // namespace bench
