// One HDF5 file of all images: hdf5 reads one range per image, hdf5_whole loads the images that the slice
// needs into memory before it. Images are read with pread() at H5Dget_offset(), because H5Dread() holds a
// global lock while it copies: 46 instead of 35 us per image of 115 KB with two threads on two busy cores.
#include "bench/formats/optional_libraries.h"
#include "bench/loading/storage/storage.h"

#ifdef HAVE_HDF5
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/formats/hdf5_handle.h"
#include "harness/base/file.h"
#endif

namespace bench {
namespace {

const Value kHdf5 = {"storage", "hdf5", "one HDF5 file, one range read per image", {.packed = true}};
const Value kHdf5Whole = {"storage",
                          "hdf5_whole",
                          "one HDF5 file, its images loaded into memory before the slice",
                          {.packed = true, .page_cache = false}};

#ifndef HAVE_HDF5
[[maybe_unused]] const bool registered_storage_hdf5 =
    register_missing(kHdf5, kNoHdf5) && register_missing(kHdf5Whole, kNoHdf5);
#else

namespace fs = std::filesystem;
constexpr size_t kLargestImage = size_t{1} << 30;  // a larger image is treated as damaged

// Position in the file (bytes) and number of elements of a contiguous one-dimensional dataset.
struct Extent {
  int64_t start = 0, count = 0;
};

class File {
 public:
  explicit File(const fs::path& path)
      : path_(path),
        file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "it can't be opened") {}

  Extent extent(const std::string& name, size_t element_bytes) const {
    const Hdf5Handle dataset = open(name);
    const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose, name);
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose, name);
    const Hdf5Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose, name);
    if (H5Tget_class(type.id()) != H5T_INTEGER || H5Tget_size(type.id()) != element_bytes)
      throw std::runtime_error(
          fmt::format("the elements of dataset {} are not {}-byte integers", name, element_bytes));
    hsize_t count = 0;
    if (H5Sget_simple_extent_ndims(space.id()) != 1 ||
        H5Sget_simple_extent_dims(space.id(), &count, nullptr) != 1)
      throw std::runtime_error(fmt::format("dataset {} has not one dimension", name));
    if (H5Pget_layout(creation.id()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.id()) != 0)
      throw std::runtime_error(fmt::format("dataset {} isn't contiguous in the file", name));
    const auto most = static_cast<int64_t>(fs::file_size(path_));
    if (count > static_cast<hsize_t>(most) / element_bytes)
      throw std::runtime_error(
          fmt::format("dataset {} has {} elements, more than the file can hold", name, count));
    const haddr_t start = H5Dget_offset(dataset.id());
    if (count == 0) return {};
    if (start == HADDR_UNDEF) throw std::runtime_error(fmt::format("dataset {} was never written", name));
    const int64_t bytes = static_cast<int64_t>(count * element_bytes);
    if (start > static_cast<haddr_t>(most - bytes))
      throw std::runtime_error(fmt::format("dataset {} extends beyond the end of the file", name));
    return {static_cast<int64_t>(start), static_cast<int64_t>(count)};
  }

  std::vector<int64_t> integers(const std::string& name) const {
    std::vector<int64_t> values(static_cast<size_t>(extent(name, sizeof(int64_t)).count));
    const Hdf5Handle dataset = open(name);
    hdf5_checked(H5Dread(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
    return values;
  }

  std::string text_attribute(const char* name) const {
    const std::string what = fmt::format("attribute {} can't be read", name);
    const Hdf5Handle attribute(H5Aopen(file_.id(), name, H5P_DEFAULT), H5Aclose, what);
    const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose, what);
    constexpr size_t kLongest = 256;
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) != 0 ||
        H5Tget_size(type.id()) > kLongest || H5Aget_storage_size(attribute.id()) > kLongest)
      throw std::runtime_error(fmt::format("attribute {} isn't a short string", name));
    char text[kLongest + 1] = {};
    hdf5_checked(H5Aread(attribute.id(), type.id(), text), what);
    return text;
  }

 private:
  Hdf5Handle open(const std::string& name) const {
    return {H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose,
            "dataset " + name + " can't be opened"};
  }

  fs::path path_;
  Hdf5Handle file_;
};

// Files without metadata checksums must not reach the library: one damaged byte can make it allocate all
// memory or crash.
void require_checksums(int descriptor) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  constexpr uint8_t kFirstWithChecksums = 2;  // version of the superblock
  char head[kSignature.size() + 1];
  if (::pread(descriptor, head, sizeof head, 0) != ssize_t{sizeof head} ||
      !std::string_view(head, sizeof head).starts_with(kSignature))
    throw std::runtime_error("it is not an HDF5 file");
  if (static_cast<uint8_t>(head[kSignature.size()]) < kFirstWithChecksums)
    throw std::runtime_error("its metadata has no checksums (file format older than HDF5 1.8)");
}

// Verified once; then any thread may read concurrently.
class Hdf5 : public DatasetStorage, PackedCopy {
 public:
  // Throws std::runtime_error with the next step if the file in options.location is missing, belongs to
  // another data set, is truncated or damaged, or has too few records.
  explicit Hdf5(const StorageOptions& options)
      : DatasetStorage("hdf5", options.dataset),
        PackedCopy("hdf5", options,
                   fmt::format("the HDF5 file {}:", (options.location / "images.h5").string())),
        path_(location_ / "images.h5"),
        opened_(base::RegularFile::open(path_.c_str())) {
    if (!opened_.is_open()) fail(opened_.why);
    if (!options.readahead) ::posix_fadvise(opened_.descriptor.number(), 0, 0, POSIX_FADV_RANDOM);
    try {
      describe(options.dataset.fingerprint);
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
    require(records());
  }

  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this, buffer = std::vector<uint8_t>()](int64_t record) mutable -> EncodedImage {
      const size_t size = bytes(record);
      if (buffer.size() < size) buffer.resize(size);
      const int64_t read =
          base::read_all(opened_.descriptor.number(), buffer.data(), size, images_at_ + offsets_[record]);
      if (read != static_cast<int64_t>(size))
        throw std::runtime_error(fmt::format("record {} of {} can't be read: {}", record, path_.string(),
                                             read < 0 ? std::strerror(errno) : "the file ends early"));
      return {{buffer.data(), size}, labels_[static_cast<size_t>(record)]};
    });
  }
  std::vector<fs::path> cached_files(const std::vector<int64_t>&) const override { return {path_}; }

  // Size of a record. Throws std::runtime_error if it isn't in the file or is larger than 1 GiB.
  size_t bytes(int64_t record) const {
    if (record < 0 || record >= records())
      throw std::runtime_error(
          fmt::format("record {} isn't among the {} of {}", record, records(), path_.string()));
    const auto size = static_cast<size_t>(offsets_[record + 1] - offsets_[record]);
    if (size > kLargestImage)
      throw std::runtime_error(fmt::format("record {} of {} is larger than 1 GiB", record, path_.string()));
    return size;
  }

 private:
  int64_t records() const { return static_cast<int64_t>(labels_.size()); }

  void describe(const std::string& fingerprint) {
    require_checksums(opened_.descriptor.number());
    silence_hdf5();
    const File file(path_);
    const Extent images = file.extent("images", 1);
    images_at_ = images.start;
    offsets_ = file.integers("offsets");
    labels_ = file.integers("labels");
    if (const std::string found = file.text_attribute("fingerprint"); found != fingerprint)
      throw std::runtime_error(fmt::format("it holds the data set {}, expected {}", found, fingerprint));
    if (offsets_.size() != labels_.size() + 1)
      throw std::runtime_error(
          fmt::format("it has {} offsets for {} labels, expected one more", offsets_.size(), labels_.size()));
    if (!std::is_sorted(offsets_.begin(), offsets_.end()) || offsets_.front() != 0 ||
        offsets_.back() != images.count)
      throw std::runtime_error(
          fmt::format("its offsets don't ascend from 0 to the {} bytes of images", images.count));
  }

  const fs::path path_;
  base::RegularFile opened_;
  int64_t images_at_ = 0;  // byte offset in the file
  std::vector<int64_t> offsets_, labels_;
};

[[maybe_unused]] const bool registered_storage_hdf5 =
    StorageRegistry::instance().add(
        kHdf5, [](const StorageOptions& options) { return std::make_unique<Hdf5>(options); }) &&
    StorageRegistry::instance().add(kHdf5Whole, [](const StorageOptions& options) {
      auto file = std::make_unique<Hdf5>(options);
      const auto bytes_of = [&file = *file](int64_t record) { return file.bytes(record); };
      return in_memory("hdf5_whole", std::move(file), options.records, bytes_of,
                       "storage hdf5, which reads them one by one");
    });
#endif

}  // namespace
}  // namespace bench
