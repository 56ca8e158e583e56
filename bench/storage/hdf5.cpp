// One HDF5 file of all images, read in pieces (hdf5) or loaded into memory before the slice (hdf5_whole).
// The library describes the file; images are read with pread at H5Dget_offset. The library holds one lock for
// as long as H5Dread copies, thread-safe build or not. Warm, 5,408 images of 115 KB, busy two-core machine:
// H5Dread 9.1 GB/s against 10.7 by pread in one thread, 3.4 against 6.6 in two.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/dataset/hdf5_handle.h"
#include "bench/storage/available_memory.h"
#include "bench/storage/file_reader.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// A one-dimensional dataset whose elements lie behind one another in the file.
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
      throw std::runtime_error(fmt::format("dataset {} isn't of {}-byte integers", name, element_bytes));
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
      throw std::runtime_error(fmt::format("dataset {} reaches behind the end of the file", name));
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
      throw std::runtime_error(fmt::format("attribute {} isn't a short text", name));
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

class Hdf5 : public Storage {
 public:
  explicit Hdf5(const StorageOptions& options)
      : dataset_(options.dataset),
        path_(options.location / "images.h5"),
        descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
    struct stat facts {};
    if (descriptor_.number() < 0 || ::fstat(descriptor_.number(), &facts) != 0) fail(std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) fail("not a regular file");
    if (!options.readahead) ::posix_fadvise(descriptor_.number(), 0, 0, POSIX_FADV_RANDOM);
    try {
      describe();
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
    const int64_t needed = options.records.empty() ? size() : options.records.back() + 1;
    if (records() < needed) fail(fmt::format("it holds {} records and {} are needed", records(), needed));
  }

  int64_t size() const override { return static_cast<int64_t>(dataset_.images.size()); }
  std::string used() const override { return "hdf5"; }
  std::string record_name(int64_t record) const override { return dataset_.images.at(record).path; }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }
  std::vector<fs::path> cached_files(const std::vector<int64_t>&) const override { return {path_}; }

  int64_t records() const { return static_cast<int64_t>(labels_.size()); }
  int64_t label(int64_t record) const { return labels_[record]; }
  size_t bytes(int64_t record) const {
    if (record < 0 || record >= records())
      throw std::runtime_error(
          fmt::format("record {} isn't among the {} of {}", record, records(), path_.string()));
    return static_cast<size_t>(offsets_[record + 1] - offsets_[record]);
  }
  // Fills `target` with the bytes(record) bytes of a record.
  void read(int64_t record, uint8_t* target) const {
    const size_t size = bytes(record);
    for (size_t done = 0; done < size;) {
      const ssize_t n = ::pread(descriptor_.number(), target + done, size - done,
                                static_cast<off_t>(images_at_ + offsets_[record]) + static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        throw std::runtime_error(fmt::format("record {} of {} can't be read: {}", record, path_.string(),
                                             n < 0 ? std::strerror(errno) : "the file ends early"));
      done += static_cast<size_t>(n);
    }
  }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(const Hdf5& storage) : storage_(storage) {}
    EncodedImage read(int64_t record) override {
      const size_t size = storage_.bytes(record);
      if (capacity_ < size) {
        capacity_ = std::max(2 * capacity_, size);
        buffer_ = std::make_unique_for_overwrite<uint8_t[]>(capacity_);
      }
      storage_.read(record, buffer_.get());
      return {{buffer_.get(), size}, storage_.label(record)};
    }

   private:
    const Hdf5& storage_;
    std::unique_ptr<uint8_t[]> buffer_;
    size_t capacity_ = 0;
  };

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(fmt::format(
        "the HDF5 file {}: {}; pack it again with `make_dataset pack --to hdf5`", path_.string(), why));
  }

  // What the library can't verify must not reach it: the damage of a byte can cost all memory or the process.
  void require_checksums() const {
    constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
    constexpr uint8_t kFirstWithChecksums = 2;  // version of the superblock
    char head[kSignature.size() + 1];
    if (::pread(descriptor_.number(), head, sizeof head, 0) != ssize_t{sizeof head} ||
        !std::string_view(head, sizeof head).starts_with(kSignature))
      throw std::runtime_error("it is no HDF5 file");
    if (static_cast<uint8_t>(head[kSignature.size()]) < kFirstWithChecksums)
      throw std::runtime_error("its description has no checksums, as HDF5 writes them from version 1.8 on");
  }

  void describe() {
    require_checksums();
    silence_hdf5();
    const File file(path_);
    const Extent images = file.extent("images", 1);
    images_at_ = images.start;
    offsets_ = file.integers("offsets");
    labels_ = file.integers("labels");
    if (const std::string found = file.text_attribute("fingerprint"); found != dataset_.fingerprint)
      throw std::runtime_error(
          fmt::format("it holds the data set {}, expected {}", found, dataset_.fingerprint));
    if (offsets_.size() != labels_.size() + 1)
      throw std::runtime_error(
          fmt::format("it has {} offsets for {} labels, expected one more", offsets_.size(), labels_.size()));
    if (!std::is_sorted(offsets_.begin(), offsets_.end()) || offsets_.front() != 0 ||
        offsets_.back() != images.count)
      throw std::runtime_error(
          fmt::format("its offsets don't ascend from 0 to the {} bytes of images", images.count));
  }

  Dataset dataset_;
  fs::path path_;
  Descriptor descriptor_;
  int64_t images_at_ = 0;  // in the file
  std::vector<int64_t> offsets_, labels_;
};

class Hdf5Whole : public Storage {
 public:
  explicit Hdf5Whole(const StorageOptions& options) : file_(options), records_(options.records) {
    if (records_.empty())
      for (int64_t record = 0; record < file_.records(); ++record) records_.push_back(record);
    starts_.push_back(0);
    for (const int64_t record : records_) starts_.push_back(starts_.back() + file_.bytes(record));
    if (const auto free = available_memory_bytes(); static_cast<int64_t>(starts_.back()) > free)
      throw std::runtime_error(fmt::format(
          "{} images of {} need {} MiB of memory and {} MiB are free: use fewer or smaller images, or "
          "storage hdf5, which reads them one by one",
          records_.size(), file_.cached_files({})[0].string(), starts_.back() >> 20, free >> 20));
    images_ = std::make_unique_for_overwrite<uint8_t[]>(starts_.back());
    for (size_t i = 0; i < records_.size(); ++i) file_.read(records_[i], images_.get() + starts_[i]);
  }

  int64_t size() const override { return file_.size(); }
  std::string used() const override { return "hdf5_whole"; }
  std::string record_name(int64_t record) const override { return file_.record_name(record); }
  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(Hdf5Whole& storage) : storage_(storage), file_(storage.file_.reader()) {}
    EncodedImage read(int64_t record) override {
      const auto& records = storage_.records_;
      const auto found = std::lower_bound(records.begin(), records.end(), record);
      if (found == records.end() || *found != record)
        return file_->read(record);  // stands in for a bad image
      const auto i = static_cast<size_t>(found - records.begin());
      return {{storage_.images_.get() + storage_.starts_[i], storage_.starts_[i + 1] - storage_.starts_[i]},
              storage_.file_.label(record)};
    }

   private:
    Hdf5Whole& storage_;
    std::unique_ptr<StorageReader> file_;
  };

  Hdf5 file_;
  std::vector<int64_t> records_;
  std::vector<size_t> starts_;  // of records_[i] in images_, and the end of the last
  std::unique_ptr<uint8_t[]> images_;
};

[[maybe_unused]] const bool registered =
    StorageRegistry::instance().add(
        {"storage", "hdf5", "one HDF5 file, a piece read per image", {{"packed", true}}, ""},
        [](const StorageOptions& options) { return std::make_unique<Hdf5>(options); }) &&
    StorageRegistry::instance().add(
        {"storage",
         "hdf5_whole",
         "one HDF5 file, its images loaded into memory before the slice",
         {{"packed", true}, {"page_cache", false}},
         ""},
        [](const StorageOptions& options) { return std::make_unique<Hdf5Whole>(options); });

}  // namespace
}  // namespace bench
