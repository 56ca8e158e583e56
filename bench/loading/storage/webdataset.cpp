// Reads images from their places in tars: the data set's own, or those of a copy.
#include "bench/loading/storage/file_reader.h"

namespace bench {
namespace {

const Value kWebdataset = {"storage",
                           "webdataset",
                           "tar files: each image is read from its place in a tar",
                           {.packed = true, .stream = true}};

[[maybe_unused]] std::unique_ptr<Storage> tars(const StorageOptions& options) {
  if (options.location == options.dataset.root) return files_in_place("webdataset", options);
  StorageOptions copy = options;
  std::string why = "it holds too few images";
  try {
    copy.dataset = read_index(options.location / kCopyIndex);
  } catch (const std::runtime_error& error) {
    why = error.what();
    copy.dataset.images.clear();
  }
  if (static_cast<int64_t>(copy.dataset.images.size()) < records_needed(options))
    throw std::runtime_error("the copy as tars in '" + options.location.string() + "' can't be used: " + why +
                             "; " + pack_again("webdataset", options.location));
  copy.dataset.root = options.location;
  return files_in_place("webdataset", copy);
}

#ifdef HAVE_LIBARCHIVE  // which make_dataset packs and lists them with
[[maybe_unused]] const bool registered_storage_webdataset =
    StorageRegistry::instance().add(kWebdataset, tars);
#else
[[maybe_unused]] const bool registered_storage_webdataset =
    register_missing(kWebdataset, "this build found no libarchive: install libarchive-dev and build again");
#endif

}  // namespace
}  // namespace bench
