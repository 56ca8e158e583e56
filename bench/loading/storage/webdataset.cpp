// Reads images from their places in tars: the data set's own, or those of a copy.
#include "bench/formats/optional_libraries.h"
#include "bench/loading/storage/files.h"

namespace bench {
namespace {

const Value kWebdataset = {"storage",
                           "webdataset",
                           "tar files: each image is read from its place in a tar",
                           {.packed = true, .stream = true}};

[[maybe_unused]] std::unique_ptr<Storage> tars(const StorageOptions& options) {
  if (options.location == options.dataset.root) return files_in_place("webdataset", options);
  const PackedCopy packed("webdataset", options,
                          "the copy as tars in '" + options.location.string() + "' can't be used:");
  StorageOptions copy = options;
  try {
    copy.dataset = read_index(options.location / kCopyIndex);
  } catch (const std::runtime_error& error) {
    packed.fail(error.what());
  }
  packed.require(static_cast<int64_t>(copy.dataset.images.size()));
  copy.dataset.root = options.location;
  return files_in_place("webdataset", copy);
}

[[maybe_unused]] const bool registered_storage_webdataset =
#ifdef HAVE_LIBARCHIVE  // which make_dataset packs and lists them with
    StorageRegistry::instance().add(kWebdataset, tars);
#else
    register_missing(kWebdataset, kNoLibarchive);
#endif

}  // namespace
}  // namespace bench
